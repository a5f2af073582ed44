"""The words by which a raw turn is found: stems for English, pairs of characters for Chinese [R6].

Rule: pure functions of text. What goes into the index and what is asked for are cut alike, and
`name` changes with every change of how they are cut, so that an older index is made anew.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib.metadata import version

import snowballstemmer

from dualgate.adapters.local.meanings import asked_for, stated
from dualgate.domain.terms import is_stop_word, without_stop_phrases

# Beyond these a text is a document, not a turn; what it begins with is what it is found by.
CHARACTER_LIMIT = 20_000
CACHED_CHARACTERS = 200  # an item's length: the same items are looked at again and again
ASKED_LIMIT = 48  # a query is a sentence; later words do not change its subject

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fa1f"
_RUN = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+(?:['\u2019][a-z]{{1,2}}\\b)?")
_LATIN_RUN = re.compile("[a-z0-9]+(?:'[a-z]{1,2}\\b)?")  # what _RUN finds in ASCII
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_ENGLISH = snowballstemmer.stemmer("english")

# Forms that no ending leads back from, one word a group: "did he meet" must find "I met".
_IRREGULAR = {
    form: group.split()[0]
    for group in (
        "become became,begin began begun,bend bent,bite bit bitten,blow blew blown,"
        "break broke broken,bring brought,build built,burn burnt,buy bought,catch caught,"
        "choose chose chosen,come came,deal dealt,dig dug,draw drew drawn,dream dreamt,"
        "drink drank drunk,drive drove driven,eat ate eaten,fall fell fallen,feed fed,feel felt,"
        "fight fought,find found,fly flew flown,forget forgot forgotten,forgive forgave forgiven,"
        "freeze froze frozen,give gave given,go went gone,grow grew grown,hang hung,hear heard,"
        "hide hid hidden,hold held,keep kept,lead led,learn learnt,leave left,lend lent,lose lost,"
        "mean meant,meet met,pay paid,prove proven,ride rode ridden,ring rang rung,"
        "rise rose risen,run ran,say said,see saw seen,sell sold,send sent,shake shook shaken,"
        "shine shone,shoot shot,show shown,sing sang sung,sink sank sunk,sit sat,sleep slept,"
        "speak spoke spoken,spend spent,stand stood,steal stole stolen,strike struck,"
        "swear swore sworn,swim swam swum,take took taken,teach taught,tear tore torn,"
        "throw threw thrown,understand understood,wake woke woken,wear wore worn,win won,"
        "write wrote written,child children,man men,woman women,person people,foot feet,"
        "tooth teeth,mouse mice,goose geese,life lives,wife wives,knife knives,leaf leaves,"
        "good better best,bad worse worst"
    ).split(",")
    for form in group.split()[1:]
}


class SnowballLexer:
    """Cuts texts in any script; English words lose their endings."""

    name = f"snowball/{version('snowballstemmer')}/2"

    def words(self, text: str) -> list[str]:
        """Return the words of a turn, in order, with repetitions.

        >>> SnowballLexer().words("She adopted two dogs，用 PostgreSQL 存储")
        ['adopt', 'two', 'dog', '用', 'postgresql', '存储']
        """
        return _cut(text[:CHARACTER_LIMIT])

    def asked(self, text: str) -> list[str]:
        """Return the words that a question asks for, each once, at most 48.

        >>> SnowballLexer().asked("When did I meet my dog, whom I met? 预算是多少")
        ['meet', 'dog', '预算']
        """
        plain = without_stop_phrases(text[:CHARACTER_LIMIT])
        return list(dict.fromkeys(_cut(plain)))[:ASKED_LIMIT]

    def stated(self, text: str) -> frozenset[str]:
        """Return what a statement speaks of, in words of no language."""
        return stated(text[:CHARACTER_LIMIT])

    def asked_for(self, text: str) -> frozenset[str]:
        """Return what a question speaks of, in words of no language."""
        return asked_for(text[:CHARACTER_LIMIT])


def _cut(text: str) -> list[str]:
    if text.isascii():  # then NFKC changes nothing; a recall cuts hundreds of turns
        return [stem for run in _LATIN_RUN.findall(text.lower()) if (stem := _stem(run))]
    plain = unicodedata.normalize("NFKC", text).casefold()
    found: list[str] = []
    for run in _RUN.findall(plain):
        if not _IS_UNSPACED.match(run):
            if stem := _stem(run):
                found.append(stem)
        elif len(run) == 1:
            found.append(run)
        else:
            found += [run[at : at + 2] for at in range(len(run) - 1)]
    return found


@lru_cache(maxsize=8_192)
def _cut_before(text: str) -> tuple[str, ...]:
    return tuple(_cut(text))


@lru_cache(maxsize=32_768)
def _stem(word: str) -> str:
    """Return the stem of an English word, any other as it is; nothing for a word without sense."""
    bare = word.replace("\u2019", "'").split("'")[0]
    if is_stop_word(bare):
        return ""
    if not bare.isascii() or not bare.isalpha():
        return bare
    stem: str = _ENGLISH.stemWord(_IRREGULAR.get(bare, bare))
    return stem
