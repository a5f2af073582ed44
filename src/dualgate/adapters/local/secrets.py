"""What a secret looks like: one table of patterns, read by redact.py [P1].

Rules of this file:
- A row is (kind, words of which one must occur, pattern); the group named `secret` is what goes.
- Every pattern is linear: no quantifier inside a quantified group over the same characters.
- A miss leaks a password for ever, a false alarm costs one word; in doubt a row matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


def luhn(digits: str) -> bool:
    """Whether a card number's check digit is right.

    >>> luhn("4111111111111111"), luhn("4111111111111112")
    (True, False)
    """
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)  # noqa: PLR2004
    return total % 10 == 0


_CARD = re.compile(
    r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}"
    r"|35\d{14}|6(?:011|5\d\d|4[4-9]\d)\d{12}|62\d{14,17}|(?:9[45]|60)\d{14,17}"
)
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _is_card(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    return _CARD.fullmatch(digits) is not None and luhn(digits)


def _is_chinese_id(text: str) -> bool:
    total = sum(int(d) * w for d, w in zip(text[:17], _ID_WEIGHTS, strict=True))
    return "10X98765432"[total % 11] == text[17].upper()


def _is_iban(text: str) -> bool:
    compact = text.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return len(compact) >= 15 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1  # noqa: PLR2004


def _is_random(text: str) -> bool:
    """Whether 40 characters look drawn at random: upper, lower and digits, few repeats."""
    digits = sum(c.isdigit() for c in text)
    uppers = sum(c.isupper() for c in text)
    lowers = sum(c.islower() for c in text)
    return min(digits, uppers, lowers) >= 3 and len(set(text)) >= 20  # noqa: PLR2004


# What stands where a password would, and is none: placeholders, code, and talk about passwords.
_NO_VALUE = re.compile(
    r"(?:\[secret|<|\$\{?[A-Za-z_(]|\{\{|%[sd({]|\*{3}|x{4,}|\.{3}|(?:str|string|none|null|nil"
    r"|true|false|undefined|bool|int|bytes|optional|required|input|getpass|env)(?:\W|$)"
    r"|(?:os|process|env|self|this|config|settings|request|req|args|data|form|ctx|app)\.[A-Za-z_])"
    r"|[A-Za-z_.]+\(",
    re.IGNORECASE,
)
_TALK = frozenset(
    "a an the not no too very so my your his her our their its in on at by for from to of with and"
    " or if as wrong incorrect invalid expired required missing empty blank weak strong long short"
    " simple easy hard correct right good bad fine okay ok secure safe unsafe insecure hashed"
    " encrypted stored saved set reset changed gone lost forgotten leaked compromised known unknown"
    " needed optional always never still already being been also just only working broken rejected"
    " protected manager policy field hash hashing prompt box rotation length strength reset rules"
    " requirements what which that this there here it he she they we you i same different visible"
    " hidden masked case-sensitive something someone because when where how why would should must"
    " can could will may might please again anyway authentication auth login limit count counts"
    " budget window usage based refresh rate per one two three available valid unique new old"
    " default shared public private random generated handled managed".split()
)


def _is_password(text: str) -> bool:
    return not _NO_VALUE.match(text) and text.strip("'\"`.,;:!?()").casefold() not in _TALK


def _is_mixed(text: str) -> bool:
    """Whether a word is more than a word: a digit or a sign inside, or upper case within."""
    plain = text.strip("'\"`.,;:!?()")
    return _is_password(text) and (
        any(c.isdigit() or c in "!@#$%^&*_+=~?" for c in plain)
        or (plain[1:] != plain[1:].lower() and not plain.isupper())
    )


def _is_key(text: str) -> bool:
    return len(text) >= 8 and _is_mixed(text)  # noqa: PLR2004


def _is_assigned(text: str) -> bool:
    # "tests pass: 120" counts, it does not assign.
    return _is_password(text) and not (text.isdigit() and len(text) < 4)  # noqa: PLR2004


def _is_long_mixed(text: str) -> bool:
    return len(text) >= 8 and _is_mixed(text)  # noqa: PLR2004


def _always(_text: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: what it finds, which words must occur, how it looks, what makes it certain."""

    kind: str
    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    certain: Callable[[str], bool] = _always


def _rule(
    kind: str, cues: str, pattern: str, certain: Callable[[str], bool] = _always
) -> Rule:
    return Rule(kind, tuple(cues.split()), re.compile(pattern, re.IGNORECASE), certain)


def _exact(
    kind: str, cues: str, pattern: str, certain: Callable[[str], bool] = _always
) -> Rule:
    return Rule(kind, tuple(cues.split()), re.compile(pattern), certain)


_NOT_WORD = r"(?<![A-Za-z0-9_-])"
_ZH_WORD = r"(?:密码|密碼|口令|密钥|密鑰|金钥|金鑰|私钥|私鑰|令牌|暗码)"
_ZH_CODE = r"(?:验证码|驗證碼|校验码|校驗碼|动态码|動態碼|动态密码|安全码|安全碼|提取码|提取碼|解压码)"
_ZH_SAYS = (
    r"(?:就是|设的是|設的是|用的是|改成了?|改为|改為|换成了?|換成了?|设成了?|設成了?|设为|設為"
    r"|还是|還是|都是|是|为|為|[:：=＝])"
)
_ASCII = r"[\x21-\x7e]"
_EN_PHRASE = r"(?:pass(?:word|wd|code|phrase)|pwd?|pin(?:[ -]?code)?)"
_EN_KEY = (
    r"(?:(?:client|app)[ _-]?secret|secret[ _-]?(?:access[ _-]?)?key|(?:api|access|private|signing|encryption"
    r"|licen[sc]e)[ _-]?(?:key|token)|(?:auth|bearer|refresh|id|session|bot|webhook|deploy|personal access)"
    r"[ _-]?token|credentials?)"
)
_EN_SAYS = (
    r"(?:\s{1,3}(?:for|to|of|on)\s[^.\n:!?]{1,40}?)?\s{0,3}(?:\bis\b|\bwas\b|\bto\b|\bshould be\b|\bwill be\b"
    r"|['’]s\b|[:=：-])\s{0,3}(?:now\s|currently\s|still\s|just\s)?[\"'`“]?"
)
_FOREIGN = (
    r"(?:mật khẩu|パスワード|비밀번호|passwort|kennwort|contraseña|пароль|mot de passe|senha|parola|şifre|wachtwoord|hasło)"
)
_ASSIGNED = (
    r"(?:pass(?:word|wd|code|phrase)?|pwd?|secret|(?:api|access|private|secret|account"
    r"|encryption|signing)[_-]?key|credentials?|client[_-]?secret)"
)
_ASSIGNED_KEY = r"(?:token|auth|cookie|sessionid)"
_ASSIGNS = (
    r"[\"'`]?\s{0,3}(?:[:=＝：]|=>|:=)\s{0,3}(?:\"(?P<secret>[^\"\n]{3,200})\"|'(?P<secret2>[^'\n]{3,200})'"
    r"|`?(?P<secret3>" + _ASCII + r"{3,200}))"
)

RULES: tuple[Rule, ...] = (
    _exact(
        "private key", "PRIVATE",
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----"
        r"[A-Za-z0-9+/=\s\\:,.-]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----|\Z|"
        r"(?=[^A-Za-z0-9+/=\s\\:,.-])))",
    ),
    _exact("token", "eyJ", r"(?P<secret>\beyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*)"),
    _exact(
        "api key",
        "sk- sk_ rk_ pk_live gh github_pat glpat xox AKIA ASIA AIza ya29 hf_ npm_ pypi- SG. dop_v1"
        " shp LTAI AKID gsk_ r8_ tvly- pplx- xai- nvapi- sq0 whsec_ dckr_ ATATT secret_ lin_api",
        _NOT_WORD + r"(?P<secret>(?:sk-(?:ant-|proj-|or-|test-|live-|svcacct-)?|[sr]k_(?:live|test)_"
        r"|pk_live_|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|ya29\.|hf_|npm_|pypi-|dop_v1_"
        r"|shp(?:at|ca|pa|ss)_|gsk_|r8_|tvly-|pplx-|xai-|nvapi-|sq0(?:atp|csp)-|whsec_|dckr_pat_"
        r"|ATATT|secret_|lin_api_)[\w./+=-]{10,}|(?:AKIA|ASIA|LTAI|AKID)[A-Za-z0-9]{10,}"
        r"|AIza[\w-]{20,}|SG\.[\w-]{10,}\.[\w-]{10,})",
    ),
    _exact("token", ":AA", _NOT_WORD + r"(?P<secret>\d{8,10}:AA[\w-]{30,})"),
    _rule(
        "webhook", "webhook hooks. open.feishu oapi.dingtalk",
        r"https?://[\w.-]*(?:hooks\.slack\b|discord(?:app)?\.|hooks\.|webhook|open\.feishu"
        r"|oapi\.dingtalk|qyapi\.weixin)[\w.-]*(?P<secret>/[\w/?=&.%-]{8,})",
    ),
    _rule("password", "://", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/@:]{0,80}:(?P<secret>[^\s/@]{1,200})@"),
    _rule(
        "token", "= ",
        r"[?&;](?:(?:access_|auth_|refresh_|id_)?token|api_?key|key|secret|password|passwd|pwd|sig"
        r"|signature|x-amz-signature|code)=(?P<secret>[^\s&#\"'<>，。]{6,})",
        _is_password,
    ),
    _rule(
        "token", "bearer authorization basic",
        r"\b(?:bearer|authorization:\s{0,3}(?:token|bearer|basic)?|basic)\s{1,3}"
        r"(?P<secret>[A-Za-z0-9._~+/=-]{12,})",
        _is_key,
    ),
    _rule(
        "secret key", "secret aws",
        r"(?:aws|secret|access)[\w \-\"']{0,30}\s{0,3}(?:is|[:=：])\s{0,3}[\"']?"
        r"(?P<secret>[A-Za-z0-9/+=]{16,})",
        _is_key,
    ),
    _exact(
        "secret key", "",
        r"(?<![A-Za-z0-9/+=_.-])(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=_.-])", _is_random,
    ),
    _rule(
        "password", "pass pwd pw secret key credential",
        r"(?:\b|(?<=[_.-])|(?<=[a-z])(?=[A-Z]))" + _ASSIGNED + _ASSIGNS, _is_assigned,
    ),
    _rule(
        "token", "token auth cookie sessionid",
        r"(?:\b|(?<=[_.-])|(?<=[a-z])(?=[A-Z]))" + _ASSIGNED_KEY + _ASSIGNS, _is_long_mixed,
    ),
    _rule(
        "password", "pass pwd pw pin",
        r"\b" + _EN_PHRASE + r"\b" + _EN_SAYS + r"(?P<secret>" + _ASCII + r"{3,200})", _is_password,
    ),
    _rule(
        "token", "secret key token credential",
        r"\b" + _EN_KEY + r"\b" + _EN_SAYS + r"(?P<secret>" + _ASCII + r"{3,200})", _is_mixed,
    ),
    _rule(
        "password", "pass pwd pw pin token key secret credential",
        r"(?:\b(?:" + _EN_PHRASE + "|" + _EN_KEY + r")|--?p(?:assword|ass|w)|\btoken)[ ,=]{1,3}[\"'`“]?"
        r"(?P<secret>" + _ASCII + r"{4,200})",
        _is_mixed,
    ),
    _rule(
        "password", "mật パスワード 비밀번호 passwort kennwort contraseña пароль passe senha parola şifre wachtwoord hasło",
        _FOREIGN + r"\s{0,2}(?:は|を|:|=|：|is|ist|es|est|это)?\s{0,3}(?P<secret>" + _ASCII + r"{4,200})", _is_mixed,
    ),
    _rule(
        "password", "mysql sshpass curl redis-cli psql",
        r"\b(?:mysql|mysqldump|sshpass|redis-cli|psql)\b[^\n]{0,80}?\s-[pa]\s?[\"']?(?P<secret>"
        + _ASCII + r"{3,100})|\bcurl\b[^\n]{0,200}?\s(?:-u|--user)\s?[\"']?[^\s:]{1,60}:"
        r"(?P<secret2>[^\s\"']{1,100})",
    ),
    _rule(
        "one-time code", "code otp 2fa pin passcode",
        r"(?:\b(?:(?:verification|security|one[ -]?time|auth(?:entication)?|2fa|login|sign-?in"
        r"|confirmation|sms|your|my|the|access)\s)(?:(?:pass)?code|pin|token)|\botp|\b2fa|\bpin)"
        r"(?:\s(?:is|was|number|code)|\s?[:：=])*\s{0,2}(?P<secret>\d[\d -]{2,8}\d)(?![\d%]|\s?(?:lines|words|char|people|items|files|[kmg]b\b|ms\b|bytes))",
    ),
    _rule(
        "one-time code", "code",
        r"(?<!error )(?<!zip )(?<!postal )(?<!area )(?<!status )(?<!exit )(?<!source )\bcode\s[^\n.,]{1,24}?\sis\s"
        r"(?P<secret>\d{6})(?!\d)",
    ),
    _rule(
        "one-time code", "code otp passcode",
        r"(?<![\d.])(?P<secret>\d{4,8})\s(?:is|as)\s(?:your|my|the)\s[\w' -]{0,30}(?:code|otp|pin)\b",
    ),
    _rule(
        "one-time code", "验证码 驗證碼 校验码 校驗碼 动态码 動態碼 动态密码 安全码 安全碼 提取码 提取碼 解压码",
        _ZH_CODE + r"[^\n\d]{0,8}?(?P<secret>[0-9A-Za-z]{4,8})(?![0-9A-Za-z])"
        r"|(?<!\d)(?P<secret2>\d{4,8})(?!\d)[^\n\d]{0,10}?" + _ZH_CODE,
        lambda text: any(c.isdigit() for c in text) or text.isupper(),
    ),
    _rule(
        "password", "密码 密碼 口令 密钥 密鑰 金钥 金鑰 私钥 私鑰 令牌 暗码",
        _ZH_WORD + r"[^\n。！？!?，,]{0,8}?" + _ZH_SAYS + r"\s{0,3}[\"'“‘「`]?"
        r"(?P<secret>" + _ASCII + r"{3,200})",
        _is_password,
    ),
    _rule(
        "password", "密码 密碼 口令 密钥 密鑰 金钥 金鑰 私钥 私鑰 令牌 暗码",
        _ZH_WORD + r"[\s，,]{0,3}[\"'“‘「`]?(?P<secret>" + _ASCII + r"{4,200})", _is_mixed,
    ),
    _rule(
        "password", "密码 密碼 口令",
        _ZH_WORD + r"(?:[^\n。！？!?，,]{0,8}?" + _ZH_SAYS + r")?\s{0,3}(?P<secret>(?:[零〇一二三四五六七"
        r"八九两幺]{4,12}|[一二三四五六七八九两\d]{1,2}\s?[个個]\s?[零一二三四五六七八九A-Za-z\d]{1,4}"
        r"|(?:我|她|他|老婆|老公|孩子|宝宝|女儿|儿子|妈妈?|爸爸?|你)?的?(?:名字)?(?:拼音|全拼|首字母)?[加+]?"
        r"(?:生日|手机号|手機號|学号|名字全拼|名字拼音)[^\s，。！？,!?]{0,8})"
        r"(?:[加和再]{1,2}[^\s，。！？,!?]{1,8})?)",
    ),
    _rule(
        "seed phrase", "助记词 助記詞 mnemonic seed recovery",
        r"(?:助记词|助記詞|mnemonic(?: phrase)?|seed phrase|recovery phrase)[^\n]{0,12}?"
        r"(?:是|为|is|are|[:：=])\s{0,3}(?P<secret>[a-z]+(?:[ ,]{1,2}[a-z]+){5,30})",
    ),
    _rule(
        "card number", "cvv cvc 安全码",
        r"\b(?:cvv2?|cvc2?)\b[^\n\d]{0,8}(?P<secret>\d{3,4})(?!\d)",
    ),
    _rule(
        "card number", "卡号 卡號 银行卡 銀行卡 信用卡 储蓄卡 借记卡 card account 账号 帳號",
        r"(?:卡号|卡號|银行卡|銀行卡|信用卡|储蓄卡|借记卡|\b(?:card|account)(?: number| no\.?|#)?)"
        r"[^\n\d]{0,12}(?P<secret>\d(?:[ -]?\d){11,18})(?!\d)",
    ),
    _exact("card number", "", r"(?<![\d.])(?P<secret>\d(?:[ -]?\d){12,18})(?![\d])", _is_card),
    _rule(
        "id number", "身份证 身份證 护照 護照 通行证 通行證 社保 驾照 駕照 居住证",
        r"(?:身份证|身份證|护照|護照|通行证|通行證|社保卡?|驾照|駕照|居住证)(?:号码?|號碼?|编号)?"
        r"[^\n\dA-Za-z]{0,8}(?P<secret>[A-Za-z]{0,2}\d{6,17}[\dXx]?)(?![\dA-Za-z])",
    ),
    _exact(
        "id number", "",
        r"(?<!\d)(?P<secret>[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
        r"\d{3}[\dXx])(?![\dA-Za-z])",
        _is_chinese_id,
    ),
    _exact("id number", "-", r"(?<![\d-])(?P<secret>(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4})(?![\d-])"),
    _rule(
        "id number", "ssn social passport licence license insurance",
        r"\b(?:ssn|social security(?: number)?|passport|(?:driver'?s |driving )?licen[sc]e"
        r"|national (?:id|insurance)|tax id)(?: (?:number|no\.?|id))?[^\n\dA-Za-z]{0,5}"
        r"(?:is |was )?(?P<secret>(?=[A-Za-z]{0,3}\d)[A-Za-z]{0,3}(?:[ -]?\d){6,14}[A-Za-z]?)(?![\dA-Za-z])",
    ),
    _exact(
        "bank account", "",
        r"(?<![A-Za-z0-9])(?P<secret>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)(?![A-Za-z0-9])",
        _is_iban,
    ),
)
