// What the explorer of the cost model says, in both languages.
import { language, number } from "./dom.js";

const zh = {
  label: "逐位存活率，可以拖动",
  survival: (place) => `位置 ${place} 的存活率`,
  title: "逐位存活率",
  rate: "都按 αⁱ 设，α =",
  draft: "起草代价",
  verify: "多验证一位的代价",
  k: "候选数 k",
  reset: "重置",
  amounts: { tokens: "每轮期望 token 数", time: "一轮的时间" },
  speedup: "加速比",
  measured: "实测",
  slower: "比普通解码慢",
  axis: "每轮候选数 k",
  read: (points) => points.map((point) => `k = ${point.k}：${number(point.speedup)}`).join("；"),
  at: (point) => `k = ${point.k}：每轮期望 ${number(point.tokens)} 个 token，用时相当于普通解码 ${number(point.time)} 步，加速比 ${number(point.speedup)}。`,
  best: (point) => `最快的是 k = ${point.k}，加速比 ${number(point.speedup)}。`,
  none: "任何 k 都不比普通解码快：候选带来的 token 抵不上起草和验证的时间。",
  slow: (ks) => `k = ${ks.join("、")} 时比普通解码慢。`,
  points: (point, predicted) => `${point.label}：k = ${point.k}，实测 ${number(point.speedup)}，模型 ${predicted}`,
};

const en = {
  label: "Survival at each position, to be dragged",
  survival: (place) => `survival at position ${place}`,
  title: "Survival per position",
  rate: "Set all to αⁱ, α =",
  draft: "Draft cost",
  verify: "Verify cost a position",
  k: "Candidates k",
  reset: "Reset",
  amounts: { tokens: "expected tokens", time: "time of a round" },
  speedup: "speed-up",
  measured: "measured",
  slower: "slower than plain decoding",
  axis: "candidates a round, k",
  read: (points) => points.map((point) => `k = ${point.k}: ${number(point.speedup)}`).join("; "),
  at: (point) => `k = ${point.k}: ${number(point.tokens)} expected tokens a round in the time of ${number(point.time)} plain steps, a speed-up of ${number(point.speedup)}.`,
  best: (point) => ` The fastest is k = ${point.k}, with ${number(point.speedup)}.`,
  none: " No k is faster than plain decoding: the tokens that candidates bring do not pay for drafting and verifying them.",
  slow: (ks) => ` Slower than plain decoding at k = ${ks.join(", ")}.`,
  points: (point, predicted) => `${point.label}: k = ${point.k}, measured ${number(point.speedup)}, model ${predicted}`,
};

export const words = { zh, en }[language];
