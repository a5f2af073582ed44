"""Secrets are never stored, anywhere: redacted before the queue [P1]."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualgate.adapters.local.redact import SecretRedactor, sensitivity_of
from dualgate.adapters.local.secrets import RULES
from dualgate.domain.types import Sensitivity

REDACTOR = SecretRedactor()

SECRETS = [
    ("我的邮箱密码是abc123，记一下", "abc123"),
    ("宿舍 wifi 密码 lanmao2021## 写在便签上", "lanmao2021##"),
    ("請記住我的密碼是 hello1", "hello1"),
    ("登录口令：open-sesame", "open-sesame"),
    ("门锁密码是五个3", "五个3"),
    ("密码就是我生日", "我生日"),
    ("验证码482910，五分钟有效", "482910"),
    ("482910 是你的验证码", "482910"),
    ("驗證碼：7731", "7731"),
    ("The staging password is Sample!Pass-77.", "Sample!Pass-77"),
    ("my password is swordfish", "swordfish"),
    ("passcode for the door: 4471", "4471"),
    ("482910 is your verification code", "482910"),
    ("DB_PASSWORD=correct-horse-77 still fails", "correct-horse-77"),
    ("api_key='abcd1234efgh'", "abcd1234efgh"),
    ("dbPassword: 'a b c d'", "a b c d"),
    ("mysql -uroot -pHunter22 crm", "Hunter22"),
    ("curl -u admin:s3cret https://example.org", "s3cret"),
    ("postgres://admin:Tr0ub4dor@10.0.3.7:5432/crm", "Tr0ub4dor"),
    ("https://example.org/a?access_token=deadbeef99&x=1", "deadbeef99"),
    ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI"),
    ("it is wJalrXUtnFEMI7K7MDENG9bPxRfiCYFAKE0KEY44 ok", "wJalrXUtnFEMI"),
    ("key id AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("here is ghp_FAKEa1B2c3D4e5F6", "ghp_FAKEa1B2c3D4e5F6"),
    ("sk-test-FAKE0000FAKE0000FAKE", "FAKE0000"),
    ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_def", "eyJzdWIi"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIEowABCD\n-----END RSA PRIVATE KEY-----", "MIIEow"),
    ("-----BEGIN PRIVATE KEY-----\nMIIEowABCD", "MIIEow"),
    ("卡号是4111 1111 1111 1111", "1111 1111"),
    ("pay with 4111-1111-1111-1111 please", "1111-1111"),
    ("银行卡 6222021234567890123", "6222021234567890123"),
    ("身份证110101199003074514", "110101199003074514"),
    ("My SSN is 123-45-6789", "123-45-6789"),
    ("passport number is X12345678", "X12345678"),
    ("护照号 E12345678", "E12345678"),
    ("IBAN GB82 WEST 1234 5698 7654 32", "1234 5698"),
    ("post to https://hooks.slack.example/services/T000/B000/XXXXFAKE", "XXXXFAKE"),
    ("card cvv: 123", "123"),
    ("the code they texted me is 480213", "480213"),
    ("my gmail pw is Blue$ky9", "Blue$ky9"),
    ("パスワードは abc12345", "abc12345"),
    ("银行卡密码六个零", "六个零"),
    ("助记词是 apple banana cat dog egg fish goat hat", "banana"),
    ("recovery phrase: apple banana cat dog egg fish goat hat", "banana"),
]

HARMLESS = [
    "密码是什么来着",
    "密码错了怎么办",
    "我忘了密码",
    "密码学里 SHA256 很常用",
    "密码管理器用 1Password",
    "微信号 lucky_cat，手机13000000000",
    "预算从5万涨到20万",
    "订单号 20260101123456789",
    "the password is wrong",
    "password is required",
    "password: str = None",
    "api_key = os.environ['KEY']",
    "the secret to good pasta is salt",
    "the key is to keep it simple",
    "the token expired; max_tokens=4096",
    "token budget is 400 tokens",
    "zip code is 94110",
    "my code is 2000 lines",
    "tests pass: 120",
    "auth: oauth2",
    "the access token is short-lived",
    "the session token is stored in Redis",
    "密钥是放在 Vault 里的",
    "commit 3331530ab3331530ab3331530ab3331530ab33315",
    "at 1609459200000 ms",
    "My WeChat is zhangsan88",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_replaced_by_a_mark(text: str, secret: str) -> None:
    redacted = REDACTOR.redact(text)

    assert secret not in redacted
    assert "[secret: " in redacted


@pytest.mark.parametrize("text", HARMLESS)
def test_talk_about_secrets_is_left_alone(text: str) -> None:
    assert REDACTOR.redact(text) == text
    assert not REDACTOR.finds(text)


@pytest.mark.parametrize(("text", "_secret"), SECRETS)
def test_redacting_twice_is_redacting_once(text: str, _secret: str) -> None:
    once = REDACTOR.redact(text)

    assert REDACTOR.redact(once) == once


def test_the_words_around_a_secret_stay() -> None:
    assert (
        REDACTOR.redact("VPN 账号 zl_ops 密码 Qwer#2026 记一下")
        == "VPN 账号 zl_ops 密码 [secret: password] 记一下"
    )


def test_two_secrets_in_one_text_both_go() -> None:
    redacted = REDACTOR.redact("key sk-test-FAKE0000FAKE0000 and the db password is Sample!Pass")

    assert redacted == "key [secret: api key] and the db password is [secret: password]"


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(REDACTOR.redact(text), str)


@given(st.text(alphabet="\ud83d\udc00a1 密码是:=-", max_size=60))
@settings(max_examples=100, deadline=None)
def test_lone_surrogates_do_not_make_it_raise(text: str) -> None:
    REDACTOR.redact(text).encode("utf-8")


@pytest.mark.parametrize(
    "unit",
    [
        "password=", "密码", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----\n", "1 ", "a1B",
        "https://a:", "your code ", "x = foo(bar_1, 'abcdefghijklmnopqrstuvwxyz'); // 12345678\n",
        "我今天开会 plan my budget password 是 a1 at 3pm。", "curl mysql -", "A1 ", "recovery phrase is ",
    ],
)
def test_a_megabyte_takes_linear_time(unit: str) -> None:
    REDACTOR.redact("卡号 4111111111111111")  # load what loads late
    started = time.process_time()
    REDACTOR.redact(unit * (1_000_000 // len(unit)))

    assert time.process_time() - started < 6.0


def test_a_normal_turn_takes_under_twenty_milliseconds() -> None:
    turn = "我在公司做后端，数据库密码是 abc123!，wifi 也一样。Please keep replies short. " * 8
    REDACTOR.redact(turn)
    started = time.process_time()
    for _ in range(10):
        REDACTOR.redact(turn)

    assert (time.process_time() - started) / 10 < 0.02


def test_every_kind_of_secret_has_an_example_above() -> None:
    marks = " ".join(REDACTOR.redact(text) for text, _ in SECRETS)

    assert {rule.kind for rule in RULES if f"[secret: {rule.kind}]" not in marks} == set()


@pytest.mark.parametrize(
    ("text", "lang", "level"),
    [
        ("我对青霉素过敏", "zh", Sensitivity.SENSITIVE),
        ("用户每月房贷八千", "zh", Sensitivity.SENSITIVE),
        ("用户信佛", "zh", Sensitivity.SENSITIVE),
        ("住在人民路12号3单元", "zh", Sensitivity.SENSITIVE),
        ("买手机的预算是五千", "zh", Sensitivity.NORMAL),
        ("女儿上三年级", "zh", Sensitivity.PERSONAL),
        ("用户上个月离职了", "zh", Sensitivity.PERSONAL),
        ("数据库用 PostgreSQL", "zh", Sensitivity.NORMAL),
        ("I have type 1 diabetes", "en", Sensitivity.SENSITIVE),
        ("My salary is 90k", "en", Sensitivity.SENSITIVE),
        ("We keep kosher", "en", Sensitivity.SENSITIVE),
        ("Budget for the laptop is $900", "en", Sensitivity.NORMAL),
        ("We have a lot of technical debt", "en", Sensitivity.NORMAL),
        ("I live in Lisbon", "en", Sensitivity.PERSONAL),
        ("My visa runs out in May", "en", Sensitivity.PERSONAL),
        ("We deploy on Fridays", "en", Sensitivity.NORMAL),
        ("我有 asthma", None, Sensitivity.SENSITIVE),
    ],
)
def test_what_is_said_decides_how_carefully_it_is_kept(
    text: str, lang: str | None, level: Sensitivity
) -> None:
    assert sensitivity_of(text, lang) is level
