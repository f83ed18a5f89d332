// What the round stepper says, in both languages.
import { language, number } from "./dom.js";

const zh = {
  label: "一轮的候选：每个位置的草稿概率 q 与目标概率 p，可以拖动",
  rule: "规则",
  rules: { threshold: "阈值规则", greedy: "贪心匹配", sampling: "投机采样" },
  scenario: "情形",
  scenarios: { page: "本页的例子", all: "全部接受", first: "第一个就被拒", late: "被拒之后还有很像的候选", zero: "草稿概率为零", own: "自己设的" },
  budget: "预算",
  ratio: "阈值 r",
  steps: { first: "回到第一步", back: "后退", forward: "前进", play: "播放", pause: "暂停", reset: "重置" },
  count: (step, all) => `第 ${step} / ${all} 步`,
  copy: "复制链接",
  copied: "已复制：打开链接就是现在的样子。",
  address: "没能写入剪贴板；链接已在地址栏里。",
  again: "换一组随机数",
  p: (place) => `位置 ${place} 的 p`,
  q: (place) => `位置 ${place} 的 q`,
  u: (place) => `位置 ${place} 的随机数 u`,
  draw: "最后抽 token 的随机数 u",
  status: { accepted: "✓ 接受", rejected: "✗ 拒绝", closed: "关闭", beyond: "预算外", waiting: "等待" },
  candidates: "候选",
  emitted: "这一轮写下的文本",
  kv: (state) => `KV Cache：写到 ${state.kv_written}，有效长度 ${state.kv_length}`,
  legend: { q: "草稿 q", p: "目标 p", threshold: "阈值 r·q", sampling: "u·q" },
  rows: { test: (place) => `位置 ${place} 的分布`, bonus: "最后一个候选之后的分布", token: "token", p: "p", q: "q", rest: "残差" },
  why: {
    proposal: (s) =>
      s.tokens.length < s.offered_tokens.length
        ? `预算是 ${s.budget}，${s.offered_tokens.length} 个候选只取前 ${s.tokens.length} 个送去验证。KV Cache 里有 ${s.kv_length} 个位置的文本。`
        : `${s.tokens.length} 个候选都在预算之内，全部送去验证。KV Cache 里有 ${s.kv_length} 个位置的文本。`,
    at_least_threshold: (s) => `p = ${number(s.p)} 不小于 r·q = ${number(s.threshold)}，接受。`,
    below_threshold: (s) => `p = ${number(s.p)} 小于 r·q = ${number(s.threshold)}，首次拒绝。`,
    zero_draft_positive_target: (s) => `q = 0，比值没有意义；p = ${number(s.p)} 大于 0，接受。`,
    zero_draft_zero_target: () => "q = 0，p 也是 0，拒绝。",
    is_argmax: (s) => `目标在这里最可能的 token 就是 ${s.best}，接受。`,
    not_argmax: (s) => `目标在这里最可能的是 ${s.best}，不是 ${s.token}，首次拒绝。`,
    target_likes_it_as_much: (s) => `p = ${number(s.p)} 不小于 q = ${number(s.q)}，接受概率是 1，一定接受。`,
    below_probability: (s) => `u = ${number(s.u)} 小于接受概率 p/q = ${number(s.probability)}，接受。`,
    not_below_probability: (s) => `u = ${number(s.u)} 不小于接受概率 p/q = ${number(s.probability)}，首次拒绝。`,
    place: (s) => `位置 ${s.position}，token ${s.token}：`,
    forward: (s) => `KV 有效长度前进到 ${s.kv_length}。`,
    back: (s) => `从这里起的 ${s.closed_tokens.length} 个候选全部关闭；KV 已写到 ${s.kv_written}，有效长度退回 ${s.kv_length}。`,
    likely: (s, later) => `位置 ${later} 的候选单看也能通过，但它的 p 是接在刚被拒的 token ${s.token} 后面算的，不能算数。`,
    greedy_correction: (s) => `目标写下它自己最可能的 token ${s.next_token}，顶替被拒的候选。`,
    greedy_bonus: (s) => `候选全部接受，同一次前向还给出了后面一个位置的分布：目标再写下最可能的 token ${s.next_token}。`,
    sampling_correction: (s) => `修正 token 从残差，也就是归一化的 max(p − q, 0) 里抽：u = ${number(s.u)} 抽到 token ${s.next_token}。`,
    sampling_bonus: (s) => `候选全部接受，奖励 token 从目标在最后一个候选之后的分布里抽：u = ${number(s.u)} 抽到 token ${s.next_token}。`,
    later: "它的 KV 到下一轮才写入。",
    summary: (s) => `小结：${s.tokens.length} 个候选接受了 ${s.accepted_len} 个，推进比例 ${number(s.progress_per_round)}。`,
    suffix: (s) => (s.rejected_suffix.length ? `回退后缀是 ${s.rejected_suffix.join("、")}；下一轮从 KV 位置 ${s.kv_length} 写起，盖掉作废的条目。` : "没有要回退的。"),
    teaching: "教学规则到此为止，不补 token。",
    text: (s) => `写下的文本是 ${[...s.accepted_tokens, s.next_token].join("、")}。`,
    undrawable: (place) => `位置 ${place} 的候选 q = 0：它不可能是从 q 里抽出来的，投机采样不会遇到这样的一轮。把 q 调大，或者换一条规则。`,
  },
};

const en = {
  label: "Candidates of a round: the draft's probability q and the target's p at each position, to be dragged",
  rule: "Rule",
  rules: { threshold: "threshold", greedy: "greedy match", sampling: "speculative sampling" },
  scenario: "Scenario",
  scenarios: { page: "this page's round", all: "all accepted", first: "first one rejected", late: "likely candidates after a rejection", zero: "zero draft probability", own: "your own" },
  budget: "Budget",
  ratio: "Threshold r",
  steps: { first: "First step", back: "Back", forward: "Forward", play: "Play", pause: "Pause", reset: "Reset" },
  count: (step, all) => `Step ${step} of ${all}`,
  copy: "Copy link",
  copied: "Copied: the link opens exactly this.",
  address: "The clipboard is closed to this page; the address bar holds the link.",
  again: "New random numbers",
  p: (place) => `p at position ${place}`,
  q: (place) => `q at position ${place}`,
  u: (place) => `random number u at position ${place}`,
  draw: "u of the last draw",
  status: { accepted: "✓ accepted", rejected: "✗ rejected", closed: "closed", beyond: "cut off", waiting: "waiting" },
  candidates: "Candidates",
  emitted: "Text of this round",
  kv: (state) => `KV cache: written to ${state.kv_written}, valid length ${state.kv_length}`,
  legend: { q: "draft q", p: "target p", threshold: "threshold r·q", sampling: "u·q" },
  rows: { test: (place) => `Distributions at position ${place}`, bonus: "Distribution behind the last candidate", token: "token", p: "p", q: "q", rest: "residual" },
  why: {
    proposal: (s) =>
      s.tokens.length < s.offered_tokens.length
        ? `The budget is ${s.budget}, so only the first ${s.tokens.length} of ${s.offered_tokens.length} candidates go to the target. The KV cache holds ${s.kv_length} positions of text.`
        : `All ${s.tokens.length} candidates are within the budget and go to the target. The KV cache holds ${s.kv_length} positions of text.`,
    at_least_threshold: (s) => `p = ${number(s.p)} is at least r·q = ${number(s.threshold)}: accepted.`,
    below_threshold: (s) => `p = ${number(s.p)} is below r·q = ${number(s.threshold)}: the first rejection.`,
    zero_draft_positive_target: (s) => `q = 0, so the ratio says nothing; p = ${number(s.p)} is above 0: accepted.`,
    zero_draft_zero_target: () => "q = 0 and p = 0: rejected.",
    is_argmax: (s) => `the target's likeliest token here is ${s.best} as well: accepted.`,
    not_argmax: (s) => `the target's likeliest token here is ${s.best}, not ${s.token}: the first rejection.`,
    target_likes_it_as_much: (s) => `p = ${number(s.p)} is at least q = ${number(s.q)}, so it is accepted with probability 1.`,
    below_probability: (s) => `u = ${number(s.u)} is below the acceptance probability p/q = ${number(s.probability)}: accepted.`,
    not_below_probability: (s) => `u = ${number(s.u)} is not below the acceptance probability p/q = ${number(s.probability)}: the first rejection.`,
    place: (s) => `Position ${s.position}, token ${s.token}: `,
    forward: (s) => ` The valid KV length moves on to ${s.kv_length}.`,
    back: (s) => ` From here on ${s.closed_tokens.length === 1 ? "1 candidate is" : `${s.closed_tokens.length} candidates are`} closed; the KV cache was written to ${s.kv_written}, its valid length goes back to ${s.kv_length}.`,
    likely: (s, later) => ` The candidate at position ${later} would pass on its own, but its p was computed behind token ${s.token}, which has just gone.`,
    greedy_correction: (s) => `The target writes its own likeliest token, ${s.next_token}, in the place of the rejected one.`,
    greedy_bonus: (s) => `All accepted, and the same pass has given the distribution one place further on: the target adds its likeliest token there, ${s.next_token}.`,
    sampling_correction: (s) => `The correction token is drawn from the residual, max(p − q, 0) normalised: u = ${number(s.u)} gives token ${s.next_token}.`,
    sampling_bonus: (s) => `All accepted: the bonus token is drawn from the target's distribution behind the last candidate: u = ${number(s.u)} gives token ${s.next_token}.`,
    later: " Its KV entry is written in the next round.",
    summary: (s) => `Summary: ${s.accepted_len} of ${s.tokens.length} candidates accepted, progress ${number(s.progress_per_round)}.`,
    suffix: (s) => (s.rejected_suffix.length ? ` The rollback suffix is ${s.rejected_suffix.join(", ")}; the next round writes from KV position ${s.kv_length} on, over the stale entries.` : " Nothing to roll back."),
    teaching: " The teaching rule ends here and adds no token.",
    text: (s) => ` The text goes on with ${[...s.accepted_tokens, s.next_token].join(", ")}.`,
    undrawable: (place) => `The candidate at position ${place} has q = 0: it cannot have been drawn from q, so speculative sampling never meets this round. Raise q, or choose another rule.`,
  },
};

export const words = { zh, en }[language];

// One sentence or two on a state: what was tested, how it came out, and why.
export function why(state, rule, likelyLater) {
  const say = words.why;
  if (state.kind === "proposal") return say.proposal(state);
  if (state.kind === "next") return say[`${rule}_${state.next_kind}`](state) + say.later;
  if (state.kind === "summary") return say.summary(state) + say.suffix(state) + (rule === "threshold" ? say.teaching : say.text(state));
  const test = say.place(state) + say[state.reason](state);
  if (state.accepted) return test + say.forward(state);
  return test + say.back(state) + (likelyLater === null ? "" : say.likely(state, likelyLater));
}
