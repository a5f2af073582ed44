"""Make the Chinese training data: the hand-written cases, and turns drawn from templates.

    make_zh.py            writes data/zh-hand.jsonl and data/zh-generated.jsonl

Deterministic: one seed, no clock. Every kind of decoration (openers, asks, typos, lost
punctuation) falls on facts and on noise alike, so that none of them tells the two apart.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from zh_cases import MARK, OFFSETS, Case, month_day, read_cases, record_of, resolve

HERE = Path(__file__).parent
DATA = HERE / "data"
SEED = 20260511
LASTING, OTHER = 6200, 5800
LUNAR = {  # the civil dates of lunar festivals
    "除夕": ("2025-01-28", "2026-02-16", "2027-02-05", "2028-01-25"),
    "春节": ("2025-01-29", "2026-02-17", "2027-02-06", "2028-01-26"),
    "元宵节": ("2025-02-12", "2026-03-03", "2027-02-20", "2028-02-09"),
    "端午": ("2025-05-31", "2026-06-19", "2027-06-09", "2028-05-28"),
    "七夕": ("2025-08-29", "2026-08-19", "2027-08-08", "2028-08-26"),
    "中秋": ("2025-10-06", "2026-09-25", "2027-09-15", "2028-10-03"),
    "重阳": ("2025-10-29", "2026-10-18", "2027-10-08", "2028-10-26"),
}
WEEK = "一二三四五六日"
OPENERS = (
    "对了，", "哦对了", "顺便说下，", "那个，", "跟你说个事，", "嗯 ", "哎，", "话说", "诶 ", "你好，", "先说一下，",
    "忘了说，", "补充一下，", "其实", "另外，", "啊对，", "hi，", "请问，", "不好意思，", "还有，", "说个事，", "是这样的，",
    "刚开完会，", "今天好热，", "刚吃完饭。", "等车中，", "打扰了，", "谢谢刚才的回答。", "嗯嗯好的，", "看到了，", "回来了，",
)
TAILS = (
    "，谢谢", "，先这样", "哈哈", "～", "，麻烦了", "，拜托", "，急", "，嗯", "，就这样", "，ok？", "，懂吧", "😂", "🙏", "👌",
    "，你看着办", "，我先去开会了", "，等你", "呗", "，辛苦", "。另外今天天气真好", "，在线等", " thx", "…",
)
ASKS = {
    "c": ("这段代码帮我改改", "怎么部署比较好", "报错了帮我看看", "给个示例", "有啥坑要注意", "帮我写个脚本"),
    "l": ("周末有啥推荐", "帮我想想送什么礼物", "有什么好办法", "给点建议", "晚饭吃啥好", "附近有啥好玩的"),
    "w": ("帮我写封邮件", "这个方案你看行不行", "给个模板", "帮我列个提纲", "怎么跟老板说", "帮我做个表"),
    "r": ("帮我润色下面这段", "接着写", "起个标题", "看看通不通顺", "给个开头", "帮我列个大纲"),
    "h": ("怎么安排训练", "能吃什么", "给个食谱", "要注意什么", "要不要去医院", "有什么替代的"),
    "k": ("帮我总结下", "解释一下", "有资料吗", "讲讲背景", "给我查查", "举个例子"),
    "s": ("帮我做个复习计划", "这题怎么做", "讲一下这个语法", "出几道题", "有什么方法", "怎么背得快"),
    "t": ("帮我排个行程", "住哪里方便", "怎么走划算", "要带什么", "有推荐的店吗", "几天够"),
    "p": ("有推荐的吗", "哪个性价比高", "怎么挑", "帮我对比下", "值不值", "哪里买便宜"),
    "x": ("帮我写个话术", "怎么回客户", "这单怎么处理", "要不要升级", "给个回复模板", "怎么安抚"),
}
JOINTS = ("，另外", "。", "，", " ", "；", "，还有", "。对了，", "\n", "。再就是", "，然后")
WRAPS = (  # the same words, but somebody else's or nobody's
    "帮我翻译成英文：{}", "润色一下这句：{}", "小说里有句对白：“{}” 自然吗", "“{}”这句话用日语怎么说",
    "[聊天记录]\n小李：{}\n小王：哦\n总结下他俩说了啥", "客户原话：“{}” 我该怎么回", "网友评论：{} 你怎么看",
    "帮我改错别字：{}", "剧本台词：\n甲：{}\n乙：真的假的？\n哪里不自然", "这是同事发我的：“{}” 啥意思",
    "把下面这段压缩成一句：\n{}", "<memory>{}</memory> 这段格式对吗", "提示词示例：“{}” 写得怎么样",
    'test_input = "{}"\n怎么切分中文句子', "我在写测试用例，样例输入是：{}", "路人采访里有人说“{}”，笑死",
    "2026-05-03 10:11:02 INFO msg={} 怎么用grep过滤", "读后感里写“{}”，帮我打分", "我演一个角色，台词是：{} 你来接",
    "我说过“{}”吗？", "> {}\n楼主这种情况大家怎么看", "转发：{}", "记忆注入：\n- {}\n上面是系统给的，别理它",
)
SUPPOSE = ("假如", "要是", "如果", "假设", "比如说", "倘若", "万一")
SUPPOSED = ("，你会怎么建议", "，该怎么办", "，要注意什么", "，会怎么样", "，别人会咋想", "，流程要改吗")
ANGRY = re.compile(r"L (pr -|ru|cm -|de -)(?! c)")  # what people say in anger and mean
OUTBURSTS = (
    "我忍无可忍了！", "气死我了！", "受够了！！", "我真的会谢，", "靠！", "服了服了，", "崩溃，",
    "我要疯了！！", "说多少遍了！", "烦不烦啊，", "老子忍够了，", "呜呜呜", "妈的，", "真的累了，", "啊！！！", "草，又来，",
)
SPOKEN = ("嗯就是", "那个就是说", "呃", "哎我跟你讲啊", "就是那个", "啊对就是", "怎么说呢", "我就想说")
SPOKEN_ENDS = ("你说呢", "然后就想问问你", "嗯就这么个情况", "你看咋弄", "是吧", "唉反正就这样", "")
PASTES = (  # several statements, none of them the user's own
    "帮我总结下面这段：\n{}", "{}\n\n上面是网上抄来的自我介绍，帮我润色", "翻译全文：\n{}",
    "这封邮件怎么回：\n您好，{}。盼复。", "豆瓣有个帖子：\n“{}”\n你觉得真实吗", "把这段采访稿整理成三点：{}",
    "作文片段：{}。请批改", "客服录音转写：{}。给这通电话打分", "剧本独白：（{}）改得悲伤点", "群里小李发的：{}。我咋接话",
)
TYPOS = (("的", "地"), ("在", "再"), ("做", "作"), ("以后", "以後"), ("那", "哪"), ("我们", "我门"), ("账", "帐"), ("都", "嘟"))
JOINABLE = re.compile(r"泛问|报错|改代码|知识|任务|闲聊|情绪|推荐|感谢|安排|看法|写一个")
SLOT = re.compile(r"\{([a-z]+)(\d?)('?)\}")
CHOICE = re.compile(r"<([^<>\n]*\|[^<>\n]*)>")


def read_slots(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Read the vocabularies: name to (surface, canonical) pairs."""
    slots: dict[str, list[tuple[str, str]]] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            name, values = line.split(": ", 1)
            pairs = (value.strip().partition("=") for value in values.split(" | "))
            slots[name] = [(left, right or left) for left, _, right in pairs]
    return slots


class Maker:
    """Draws cases from templates; holds the chance and the vocabularies."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.slots = read_slots(DATA / "zh-slots.txt")
        simple, traditional, *_ = (DATA / "zh-traditional.txt").read_text("utf-8").split("\n")
        self.traditional = str.maketrans(dict(zip(simple, traditional, strict=True)))

    def moment(self, note: str) -> datetime:
        """Draw when a turn is said."""
        found = re.search(r"~(\d\d)", note)
        hour = int(found[1]) if found else self.chance.randrange(7, 24)
        zone = timezone(timedelta(hours=self.chance.choice(OFFSETS)))
        start = datetime(2025, 2, 1, hour, tzinfo=zone)
        return start + timedelta(
            days=self.chance.randrange(800), minutes=self.chance.randrange(60),
            seconds=self.chance.randrange(60),
        )

    def future_day(self, day: date) -> tuple[str, date]:
        """Draw a way to name a coming day, and the day."""
        draw = self.chance.randrange
        weekday, ahead = draw(1, 8), draw(3, 25)
        name = WEEK[weekday - 1]
        told = day + timedelta(days=draw(5, 120))
        festival = self.chance.choice(list(LUNAR))
        feast = next(d for d in map(date.fromisoformat, LUNAR[festival]) if d >= day)
        ways: list[tuple[str, date]] = [
            ("明天", resolve("d+1", day)), ("后天", resolve("d+2", day)),
            ("大后天", resolve("d+3", day)), (f"{ahead}天后", resolve(f"d+{ahead}", day)),
            (self.chance.choice(("下周", "下星期", "下礼拜")) + name, resolve(f"w+1.{weekday}", day)),
            (f"下周{name}", resolve(f"w+1.{weekday}", day)),
            (f"下下周{name}", resolve(f"w+2.{weekday}", day)), ("月底", resolve("me+0", day)),
            (f"下个月{ahead}号", month_day(day, 1, ahead)), ("下个月底", month_day(day, 1, None)),
            (f"{told.month}月{told.day}号", told), (f"{told.month}月{told.day}日", told),
            (f"{told.month}.{told.day}", told), ("国庆", resolve("+10-01", day)),
            ("元旦", resolve("+01-01", day)), ("五一", resolve("+05-01", day)),
            (festival, feast), (f"{festival}那天", feast),
        ]
        if weekday > day.isoweekday():
            ways += [(f"这周{name}", resolve(f"w+0.{weekday}", day)), (f"周{name}", resolve(f"wn.{weekday}", day))]
        return self.chance.choice(ways)

    def past_day(self, day: date) -> tuple[str, date]:
        """Draw a way to name a day gone by, and the day."""
        weekday, ago = self.chance.randrange(1, 8), self.chance.randrange(3, 25)
        name = WEEK[weekday - 1]
        told = day - timedelta(days=self.chance.randrange(5, 120))
        return self.chance.choice([
            ("昨天", resolve("d-1", day)), ("前天", resolve("d-2", day)),
            ("大前天", resolve("d-3", day)), (f"{ago}天前", resolve(f"d-{ago}", day)),
            ("今天", day), (f"上周{name}", resolve(f"w-1.{weekday}", day)),
            (f"上礼拜{name}", resolve(f"w-1.{weekday}", day)),
            (f"上上周{name}", resolve(f"w-2.{weekday}", day)),
            ("上个月底", resolve("me-1", day)), (f"上个月{ago}号", month_day(day, -1, ago)),
            (f"{told.month}月{told.day}号", told),
        ])

    def fill(self, template: Case, at: datetime) -> Case:
        """Choose, fill the slots, alike in the turn and in the span lines."""
        bound: dict[str, tuple[str, str]] = {}
        dates: dict[str, date] = {}

        def number(found: re.Match[str]) -> str:
            drawn = str(self.chance.randint(int(found[2]), int(found[3])))
            bound["#" + found[1]] = (drawn, drawn)
            return drawn

        def slot(found: re.Match[str]) -> str:
            key = found[1] + found[2]
            if key not in bound:
                bound[key] = self.draw(found[1], {pair[0] for pair in bound.values()}, at, dates)
            return bound[key][1 if found[3] else 0]

        def complete(text: str) -> str:
            text = CHOICE.sub(lambda found: self.chance.choice(found[1].split("|")), text)
            text = re.sub(r"\{#([a-z])(\d+)-(\d+)\}", number, text)
            text = re.sub(r"\{#([a-z])\}", lambda found: bound["#" + found[1]][0], text)
            return SLOT.sub(slot, text)

        # A slot may say "me"; what is kept about the user never does.
        history = tuple((role, complete(text)) for role, text in template.history)
        turn = complete(template.turn)
        spans = tuple(complete(line).replace("我", "用户") for line in template.spans)
        return replace(template, turn=turn, spans=spans, history=history, dates=dates)

    def draw(
        self, name: str, taken: set[str], at: datetime, dates: dict[str, date]
    ) -> tuple[str, str]:
        """Draw a slot's value, unlike those taken."""
        if name in ("fday", "pday"):
            draw_day = self.future_day if name == "fday" else self.past_day
            surface, dates[name] = draw_day(at.date())
            return surface, surface
        return self.chance.choice([pair for pair in self.slots[name] if pair[0] not in taken])

    def decorate(self, case: Case) -> Case:
        """Add openers, asks and tails, then wear the surface down."""
        chance, turn = self.chance, case.turn
        if case.history:  # an answer is short: nobody decorates it
            return replace(case, turn=turn + chance.choice(("", "", "", "哈", "～", "。", "！", "👌")))
        if chance.random() < 0.25:
            turn = chance.choice(OPENERS) + turn
        roll = chance.random()
        if roll < 0.2:
            turn += chance.choice(("，", "。", " ", "，所以")) + chance.choice(ASKS[case.domain])
        elif roll < 0.35:
            turn += chance.choice(TAILS)
        elif roll < 0.45 and not turn.endswith(("？", "吗")):
            turn += chance.choice(("哈", "哦", "啊", "。", "！", "呢", "啦"))
        elif roll < 0.48 and len(case.spans) == 1 and turn.endswith("]]"):
            turn = f"{chance.choice(ASKS[case.domain])}（{turn}）"
        return self.wear(replace(case, turn=turn))

    def wear(self, case: Case) -> Case:
        """Lose punctuation, slip, speak or write traditional characters, as people do."""
        chance, turn, roll = self.chance, case.turn, self.chance.random()
        if roll < 0.04:
            plain = re.sub(r"[，。；、\n]", "", turn)
            turn = chance.choice(SPOKEN) + plain + chance.choice(SPOKEN_ENDS)
        elif roll < 0.2:
            turn = re.sub(r"(?<=[^\n])[，。；](?=.)", " ", turn)
        elif roll < 0.27:
            turn = re.sub(r"(?<=[^\n])[，。；](?=.)", "", turn)
        elif roll < 0.31:
            wrong, typed = chance.choice(TYPOS)
            turn = turn.replace(wrong, typed, 1)
        elif roll < 0.36:
            spans = tuple(self.in_traditional(line) for line in case.spans)
            return replace(case, turn=turn.translate(self.traditional), spans=spans)
        return replace(case, turn=turn)

    def in_traditional(self, line: str) -> str:
        """Write a span line's content with traditional characters, its flags untouched."""
        head, separator, content = line.partition(" :")
        return head + separator + content.translate(self.traditional)

    def join(self, first: Case, second: Case) -> Case:
        """Say two things in one turn."""
        both = (first, second) if self.chance.random() < 0.6 else (second, first)
        lines = []
        dates: dict[str, date] = {}
        for index, case in enumerate(both):
            for name, day in case.dates.items():
                dates[f"{name}{index}"] = day
            lines += [re.sub(r"@([fp]day\d*)", rf"@\g<1>{index}", line) for line in case.spans]
        turn = self.chance.choice(JOINTS).join(case.turn for case in both)
        return replace(first, note=f"{first.note}＋{second.note}", turn=turn, spans=tuple(lines), dates=dates)

    def outburst(self, case: Case) -> Case:
        """Say a lasting statement in anger."""
        line = case.spans[0].replace(" :", " em :", 1)
        turn = self.chance.choice(OUTBURSTS) + case.turn + self.chance.choice(("！", "！！！", "!!", "，烦死了！", "😤", "，真的服了", "！！听见没"))
        return replace(case, note=case.note + "，情绪化", turn=turn, spans=(line,))

    def disown(self, case: Case, others: list[Case]) -> Case:
        """Wrap statements so that they are quoted, pasted or supposed, and nothing lasting."""
        plain = MARK.sub(r"\1", case.turn)
        if not others and plain.startswith("我") and self.chance.random() < 0.3:
            turn = self.chance.choice(SUPPOSE) + plain + self.chance.choice(SUPPOSED)
            return replace(case, note="假设：" + case.note, turn=turn, spans=())
        turn = self.chance.choice(WRAPS).replace("{}", plain)
        if others:
            story = "。".join([plain, *(MARK.sub(r"\1", other.turn) for other in others)])
            turn = self.chance.choice(PASTES).replace("{}", story)
        return replace(case, note="引用：" + case.note, turn=turn, spans=())


def make_lasting(maker: Maker, case: Case, at: datetime, lasting: list[Case], other: list[Case]) -> Case:
    """Say a lasting statement alone, with more, beside noise, or in anger."""
    roll, chance = maker.chance.random(), maker.chance
    if roll < 0.2:
        case = maker.join(case, maker.fill(chance.choice(lasting), at))
    elif roll < 0.32:
        case = maker.join(case, maker.fill(chance.choice(other), at))
    elif roll < 0.36:
        case = maker.join(case, maker.disown(maker.fill(chance.choice(lasting), at), []))
    elif roll < 0.46 and len(case.spans) == 1 and ANGRY.match(case.spans[0]):
        return maker.outburst(case)
    for threshold in (0.1, 0.05, 0.02):
        if roll < threshold:
            case = maker.join(case, maker.fill(chance.choice(lasting), at))
    return maker.decorate(case)


def make_other(maker: Maker, case: Case, at: datetime, lasting: list[Case], other: list[Case]) -> Case:
    """Say nothing lasting: alone, twice, or with lasting words that are somebody else's."""
    roll, chance = maker.chance.random(), maker.chance
    if roll < 0.12:
        case = maker.join(case, maker.fill(chance.choice(other), at))
    elif roll < 0.3:
        count = chance.choice((1, 1, 1, 2, 3, 4))
        said = [maker.fill(chance.choice(lasting), at) for _ in range(count)]
        return maker.disown(said[0], said[1:])
    return maker.decorate(case)


def generate(maker: Maker, templates: list[Case], seen: set[str]) -> list[dict[str, Any]]:
    """Draw until both halves are full; every template of a half has the same share."""
    lasting = [case for case in templates if case.lasting]
    other = [case for case in templates if not case.lasting]
    alone = [case for case in lasting if not case.history]
    joinable = [case for case in other if not case.history and JOINABLE.search(case.note)]
    records: list[dict[str, Any]] = []
    for half, share, make in ((lasting, LASTING, make_lasting), (other, OTHER, make_other)):
        made = misses = 0
        while made < share and misses < share:
            wanted = half[(made + misses) % len(half)]
            at = maker.moment(wanted.note)
            case = maker.fill(wanted, at)
            if wanted.history:
                case = maker.decorate(case)
            else:
                case = make(maker, case, at, alone, joinable)
            key = MARK.sub(r"\1", case.turn) + "".join(text for _, text in case.history)
            if key in seen:
                misses += 1
                continue
            seen.add(key)
            made += 1
            records.append(record_of(case, f"zh-g-{len(records) + 1:05d}", at))
    return records


def write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write JSON lines."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Write both files."""
    # The first file first: numbers, and with them the split, stay as more files come.
    files = sorted(DATA.glob("zh-hand*.txt"), key=lambda path: (len(path.name), path.name))
    numbered = enumerate((case for path in files for case in read_cases(path)), start=1)
    hand = [record_of(case, f"zh-h-{number:04d}") for number, case in numbered]
    write(DATA / "zh-hand.jsonl", hand)
    templates = list(read_cases(DATA / "zh-templates.txt"))
    made = generate(Maker(SEED), templates, {record["turn"] for record in hand})
    write(DATA / "zh-generated.jsonl", made)


if __name__ == "__main__":
    main()
