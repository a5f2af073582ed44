"""The labels of the command line, in English and Chinese. What users said is never translated."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LANGUAGES = ("en", "zh")

_CHINESE: Mapping[str, str] = MappingProxyType(
    {
        "access count": "调用次数",
        "active": "活跃",
        "archive": "归档",
        "attribute": "属性",
        "bad entries": "无法读取",
        "candidates": "候选",
        "cause": "原因",
        "challenge": "挑战",
        "confidence": "置信度",
        "confirmations": "确认次数",
        "content": "内容",
        "contested": "有争议",
        "context": "上下文",
        "core": "核心",
        "created": "创建",
        "decision": "决定",
        "decisions": "决定",
        "done": "完成",
        "evidence": "证据",
        "expires": "到期",
        "files": "文件",
        "from": "原状态",
        "history": "历史",
        "id": "编号",
        "importance": "重要性",
        "item": "记忆",
        "items": "记忆",
        "job": "任务",
        "last seen": "最近提及",
        "messages": "消息",
        "moves": "变动",
        "new messages": "新消息",
        "new value": "新说法",
        "next page": "下一页",
        "no": "否",
        "nothing": "没有",
        "nothing moved": "没有变动",
        "notes": "笔记",
        "numbers": "数值",
        "other files": "其他文件",
        "outcome": "结果",
        "passages": "原文片段",
        "paths": "路径",
        "pending": "待定",
        "pinned": "已固定",
        "quote": "原话",
        "reason": "理由",
        "recalled": "召回",
        "recalls": "召回记录",
        "relevance": "相关度",
        "role": "角色",
        "score": "得分",
        "seconds": "秒",
        "sensitivity": "敏感度",
        "session": "会话",
        "sessions": "会话",
        "signals": "信号",
        "stats": "统计",
        "status": "状态",
        "subject": "主体",
        "support": "支持度",
        "time": "时间",
        "time span": "时间跨度",
        "to": "新状态",
        "tokens": "词元",
        "turns": "消息",
        "type": "类型",
        "user": "用户",
        "users": "用户",
        "user messages": "用户消息",
        "value": "值",
        "version": "版本",
        "versions": "版本",
        "who": "谁",
        "bytes": "字节",
        "would read": "试读",
        "nothing was stored: capture is paused, or nothing is left of it": (
            "没有写入:记录已暂停,或没有可写的内容"
        ),
        "not stored": "未写入",
        "queued": "已排队",
        "dry run: nothing was stored, candidates were not extracted": (
            "试读:没有写入,也没有提取候选"
        ),
    }
)


def word(english: str, lang: str | None) -> str:
    """Return a label in the language, English where there is none."""
    return _CHINESE.get(english, english) if lang == "zh" else english
