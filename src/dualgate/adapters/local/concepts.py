"""Words that mean the same, in Chinese and English, and words that exclude each other.

Rule: this file finds the concepts of lexicon/concepts.txt in a text, longest form first. What two
texts with such concepts are to each other is the judge's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from dualgate.domain.items import folded


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning. exclusive: another of its kind cannot hold at the same time."""

    id: str
    kind: str
    exclusive: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A concept found at text[start:end] (zh) or in words start to end (en)."""

    concept: Concept
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All concepts by their forms, and the opposites among them."""

    forms: dict[str, Concept] = field(default_factory=dict)
    opposites: frozenset[frozenset[str]] = frozenset()
    longest_zh: int = 1
    longest_en: int = 1

    def named(self, text: str) -> Concept | None:
        """Return the concept the whole text names.

        >>> lexicon().named("阿里云").id, lexicon().named("Short").id
        ('alibaba cloud', 'concise')
        """
        plain = simplified(folded(text))
        return self.forms.get(plain) or self.forms.get(singular(plain))

    def opposed(self, one: str, other: str) -> bool:
        """Whether two concepts are opposites."""
        return frozenset((one, other)) in self.opposites

    def without(self, forms: Iterable[str]) -> Lexicon:
        """Return a lexicon that does not know these forms (for training: real words are unknown)."""
        gone = frozenset(forms)
        kept = {form: concept for form, concept in self.forms.items() if form not in gone}
        return Lexicon(kept, self.opposites, self.longest_zh, self.longest_en)

    def in_chinese(self, text: str) -> Iterator[Hit]:
        """Yield the concepts of a folded Chinese stretch, left to right, longest form first."""
        start = 0
        while start < len(text):
            for length in range(min(self.longest_zh, len(text) - start), 0, -1):
                concept = self.forms.get(text[start : start + length])
                if concept is not None:
                    yield Hit(concept, start, start + length)
                    start += length
                    break
            else:
                start += 1

    def in_words(self, words: list[str]) -> Iterator[Hit]:
        """Yield the concepts of folded English words, left to right, longest form first."""
        start = 0
        while start < len(words):
            for length in range(min(self.longest_en, len(words) - start), 0, -1):
                form = " ".join(words[start : start + length])
                concept = self.forms.get(form) or self.forms.get(singular(form))
                if concept is not None:
                    yield Hit(concept, start, start + length)
                    start += length
                    break
            else:
                start += 1


@cache
def lexicon() -> Lexicon:
    """Return the packaged concepts; they are read once."""
    source = files(__package__).joinpath("lexicon/concepts.txt").read_text("utf-8")
    forms: dict[str, Concept] = {}
    opposites: set[frozenset[str]] = set()
    kind, exclusive = "", False
    for line in source.splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("["):
            kind, _, number = text.strip("[]").rpartition(" ")
            exclusive = number == "one"
            continue
        if "<>" in text:
            opposites.add(frozenset(side.strip() for side in text.split("<>")))
            continue
        name, _, rest = text.partition(": ")
        concept = Concept(name.rstrip(":"), kind, exclusive)
        for form in (concept.id, *rest.split(",")):
            if form.strip():
                forms.setdefault(form.strip(), concept)
    zh = max(len(form) for form in forms if not form.isascii())
    en = max(form.count(" ") + 1 for form in forms)
    return Lexicon(forms, frozenset(opposites), zh, en)


def singular(word: str) -> str:
    """Return an English word without its plural or third-person ending.

    >>> singular("replies"), singular("uses"), singular("boss")
    ('reply', 'use', 'boss')
    """
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:  # noqa: PLR2004
        return word[:-1]
    return word


_SIMPLER = str.maketrans(
    "簡潔詳細長喜歡愛討厭與個為會無電腦資訊數據庫項預算這專對過敏養貓狗寵婦開車買賣書寫讀說話語師醫學習國際網絡購點單張進處決選擇擇東請導師產營業時間計劃設計後臺灣現當號碼應該環遠辦經驗節約體驗驗證術標題總結結構圖畫譜鐘錶飛機場歲業務團隊員頭條麼讓給從們還沒問題實現類圍變換遷動態樣錯誤補齊雲蘋華為馬達豐貝麵飯魚雞蝦蠟豬羊肉鹽糖",
    "简洁详细长喜欢爱讨厌与个为会无电脑资讯数据库项预算这专对过敏养猫狗宠妇开车买卖书写读说话语师医学习国际网络购点单张进处决选择择东请导师产营业时间计划设计后台湾现当号码应该环远办经验节约体验验证术标题总结结构图画谱钟表飞机场岁业务团队员头条么让给从们还没问题实现类围变换迁动态样错误补齐云苹华为马达丰贝面饭鱼鸡虾蜡猪羊肉盐糖",
)


def simplified(text: str) -> str:
    """Return text with common traditional characters as simplified ones, one for one."""
    return text.translate(_SIMPLER)


_STRETCH = re.compile(r"[\u3400-\u9fff]+|[a-z0-9][a-z0-9.+#'_/-]*[a-z0-9+#]|[a-z0-9]")


def stretches(text: str) -> list[str]:
    """Return the Chinese runs and the words of a folded text, in order."""
    return _STRETCH.findall(text)
