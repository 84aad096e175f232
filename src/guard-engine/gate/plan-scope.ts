import { inEnglish } from './in-english.ts'

/**
 * How much of the plan a prompt asks for. `same`: as before, for a short answer such as "yes". null: all of it. A later prompt of a session
 * that does not mention the plan asks for something else.
 */
export function askedScope(
  prompt: string,
  isLater = false,
): { readonly tasks: number | null } | 'same' | null {
  const text = prompt.trim()
  const limit = /--max-iterations[= ]+(\d+)/.exec(text)?.[1] ?? /\bloop\b.*\bmax=(\d+)/.exec(text)?.[1]
  if (limit !== undefined) return Number(limit) === 0 ? null : { tasks: Number(limit) }
  // The loop command asks the user between two rounds.
  if (/^\/\S*\bloop\b/.test(text) && !/\bpause=false\b/.test(text)) return { tasks: 1 }
  if (/^(?:y|yes|ok|okay|sure|no|status|tasks|git|thanks?|thank you)[.! ]*$/i.test(text)) return 'same'
  const read = inEnglish(text).replaceAll(/\bplease\b,?\s*/gi, '')
  const sentences = read.slice(0, 2_000).split(/[.!?;\n]+(?:\s|$)|\n/)
  return sentences.some(isLimited) || isAside(read, isLater) ? { tasks: null } : null
}

/** "Don't run the tests, they take an hour": not "twice", "in watch mode" or "before the build", which are about how to run them. */
export function asksForNoRun(prompt: string): boolean {
  return inEnglish(prompt.slice(0, 2_000))
    .split(/[.!?;\n,]+(?:\s|$)|\n|\b(?:because|since|as|and|but|they|it)\b/)
    .some((text) => noRun.test(text))
}

const noRun =
  /\b(?:do not|don['’]?t|no need to|you need not|needn['’]t|without|skip) (?:even )?(?:run|running|execute|executing) (?:the |any |all |my |our |unit |full |whole |test )*(?:tests?|suites?|checks?|pytest|vitest|jest|npm test|make test|anything)(?: and (?:the )?(?:linters?|build))?(?: (?:now|yet|here|today|this time|for (?:now|this(?: one)?)|please|at all|yourself|locally|on this machine))*\s*$/i

const task = '(?:task|step|item|todo|checkbox|part|phase)s?'
const which = String.raw`(?:#?\d+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|next|this|that)`

/** "do only task one", "just the first two tasks", "implement task 3", "stop after the next task", "leave the rest". */
const limits: readonly RegExp[] = [
  new RegExp(String.raw`\b(?:only|just|solely)\b.*\b${task}\b`, 'i'),
  new RegExp(String.raw`\b${task}\b.*\b(?:only|nothing else|nothing more|and stop|then stop)\b`, 'i'),
  new RegExp(
    String.raw`\b(?:do|implement|finish|complete|work on|start with|take|handle|fix|build|solve)\s+(?:only\s+)?(?:the\s+)?(?:${which}\s+)*(?:open\s+)?${task}\s*(?:${which}\b|\(|:|$)`,
    'i',
  ),
  new RegExp(
    String.raw`\b(?:do|implement|finish|complete|work on|take|handle|tackle|start|pick up|(?:continue|proceed|go on)\s+with)\s+(?:the\s+)?(?:first|second|third|next|one|a single)\s+(?:\w+\s+)?${task}\b`,
    'i',
  ),
  new RegExp(String.raw`\b(?:stop|end|pause|wait|ask me)\s+(?:\w+\s+)?after\b.*\b${task}\b`, 'i'),
  /\b(?:not|don['’]?t|do not|without)\b.*\b(?:rest|other tasks?|remaining tasks?|next tasks?|whole plan|entire plan|further tasks?)\b/i,
  /(?<!(?:\bnot|n['’]?t|\bnever) )\b(?:leave|skip|ignore|forget|postpone)\b.*\b(?:rest|other tasks?|remaining|plan)\b/i,
]

/** A request about something else: "Fix the typo in the error message of total.py". */
function isAside(text: string, isLater: boolean): boolean {
  const isAboutPlan = aboutPlan.test(text)
  if (isLater) return /\S\s+\S+\s+\S/.test(text) && !isAboutPlan && !goingOn.test(text)
  if (!isAboutPlan && faults.test(text) && !goingOn.test(text)) return true
  return (
    !isAboutPlan &&
    new RegExp(
      String.raw`^(?:${opening}\s+)*${changing}\s+\S+\s+\S|^${opening}\s.*\S\s+${changing}\s*[.!?]*$`,
      'i',
    ).test(text)
  )
}

const opening =
  "(?:please|now|also|can you|could you|kannst du|koenntest du|peux-tu|tu peux|pouvez-vous|puedes|puoi|podes|kun je|por favor|per favore|s['’]il (?:te|vous) plait,?|we need to|i need you to)"
const changing =
  '(?:fix|rename|refactor|add|remove|delete|drop|bump|upgrade|replace|convert|extract|revert|speed up|clean up|format)'

const aboutPlan =
  /\b(?:plans?|tasks?|steps?|items?|to-?dos?|check ?box(?:es)?|phases?|milestones?|everything|all|rest|remaining|next|continue|implement\w*|ralph|loop)\b/i

/** "There is a bug in total", "average() divides by the wrong number". */
const faults = /\b(?:bugs?|wrong|broken|crash\w*|regression|traceback|exception)\b/i

const goingOn =
  /\b(?:go (?:on|ahead)|keep (?:going|working|at)|carry on|proceed|resume|start|work|finish|complete|done|build it)\b/i

/** "all tasks", "every task", "task after task": the whole plan, whatever else the sentence says. */
const whole =
  /\b(?:all|every|each|remaining|until|rest of the)\b.*\b(?:tasks?|steps?|plan|done|finished)\b|\bone after (?:the )?(?:other|another)\b/i

function isLimited(sentence: string): boolean {
  const isNegated = /\b(?:not|don['’]?t|leave|skip|ignore|forget|postpone|only|just)\b/i.test(sentence)
  if (whole.test(sentence) && !isNegated) return false
  return limits.some((limit) => limit.test(sentence))
}

/** Whether a last message reports that no task is left. Used only against the plan itself, never as evidence. */
export function claimsAllDone(message: string | null): boolean {
  if (message === null) return false
  const text = message.slice(-6_000).replaceAll(/[*_`|]/g, ' ')
  return (
    /\bremaining(?:\s+tasks?)?\s*[:=]\s*(?:0|none|no)\b/i.test(text) ||
    /\b(?:0|no|zero)\s+(?:open\s+|remaining\s+)?tasks?\s+(?:remaining|remain|are left|is left|left|open)\b/i.test(
      text,
    ) ||
    /\b(?:all|every)\s+(?:\d+\s+|of the\s+|the\s+)?(?:planned\s+|open\s+|remaining\s+)?tasks?\s+(?:in the plan\s+|of the plan\s+|from the plan\s+)?(?:are|is|were|have been|has been)\s+(?:now\s+)?(?:done|complete|completed|finished|implemented)\b/i.test(
      text,
    ) ||
    /\b(?:the\s+)?(?:whole\s+|entire\s+)?(?:implementation\s+)?plan\s+(?:is|has been)\s+(?:now\s+)?(?:fully\s+)?(?:done|complete|completed|finished|implemented)\b/i.test(
      text,
    )
  )
}
