// What the sampling demonstration says, in both languages.
import { language } from "./dom.js";

const zh = {
  label: "草稿分布 q 与目标分布 p，可以拖动；旁边是写出的 token 所占的份额",
  rule: "规则",
  rules: { sampling: "投机采样", match: "目标抽样匹配", threshold: "阈值规则", typical: "典型接受" },
  ratio: "阈值 r",
  speed: "速度",
  speeds: { 10: "每秒 10 轮", 1000: "每秒 1000 轮", 20000: "每秒 20000 轮" },
  run: "开始",
  pause: "暂停",
  reset: "清零",
  token: "token",
  p: (token) => `token ${token} 的 p`,
  q: (token) => `token ${token} 的 q`,
  legend: { q: "草稿 q", p: "目标 p", emitted: "写出的", limit: "极限" },
  axis: "与 p 的总变差距离",
  rounds: "轮数",
  readings: { rounds: "轮数", now: "写出的与 p 的距离", limit: "精确极限与 p 的距离" },
  exact: (rule) => `${rule}：写出的 token 严格服从 p。还看得见的距离只是抽样误差，轮数每多百倍，它缩小十倍。`,
  lossy: (rule, distance) => `${rule}：极限不是 p。再抽多少轮，距离也停在 ${distance} 附近。`,
  lucky: (rule) => `${rule}：对这一对 p 和 q，极限恰好是 p；换一对就不是了。`,
  state: (rounds, distance) => `已抽 ${rounds} 轮，距离 ${distance}。`,
};

const en = {
  label: "Draft distribution q and target distribution p, to be dragged; beside them the share of each emitted token",
  rule: "Rule",
  rules: { sampling: "speculative sampling", match: "target-sample match", threshold: "threshold", typical: "typical acceptance" },
  ratio: "Threshold r",
  speed: "Speed",
  speeds: { 10: "10 rounds a second", 1000: "1000 rounds a second", 20000: "20000 rounds a second" },
  run: "Run",
  pause: "Pause",
  reset: "Clear",
  token: "token",
  p: (token) => `p of token ${token}`,
  q: (token) => `q of token ${token}`,
  legend: { q: "draft q", p: "target p", emitted: "emitted", limit: "limit" },
  axis: "total variation from p",
  rounds: "rounds",
  readings: { rounds: "Rounds", now: "Distance of what was emitted from p", limit: "Distance of the exact limit from p" },
  exact: (rule) => `With ${rule} what is emitted follows p exactly. The distance still seen is sampling error: a hundred times the rounds make it ten times smaller.`,
  lossy: (rule, distance) => `With the rule "${rule}" the limit is not p. However many rounds are drawn, the distance stays near ${distance}.`,
  lucky: (rule) => `With the rule "${rule}" the limit happens to be p for this pair of p and q; for others it is not.`,
  state: (rounds, distance) => `${rounds} rounds drawn, distance ${distance}.`,
};

export const words = { zh, en }[language];
