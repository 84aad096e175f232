import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TrialRecord } from '../../../src/core/trial.ts'

/** What may differ between equal runs, why, and its replacement. Everything else must be equal. */
type Difference = readonly [why: string, pattern: RegExp, stands: string | Numbering]

/** Each value by its number, in the order of appearance: the same one stays the same. */
interface Numbering {
  readonly word: string
}

const differences: readonly Difference[] = [
  ['the clock of the log', /"ts":[\d.]+/g, '"ts":0'],
  ['how long something took', /"duration_secs":[\d.e-]+/g, '"duration_secs":0'],
  ['how long something took, as agents write it', /(?<=duration_?ms(?:\\*")?: ?)\d+/gi, '0'],
  ['the id of a process', /"pid":\d+/g, '"pid":0'],
  ['a moment in a line of the agent', /20\d\d-\d\d-\d\dT[\d:.]+Z/g, '{time}'],
  ['a moment in a line of the agent, in milliseconds', /(?<=_time\\":)\d{13}/g, '{time}'],
  ['the line Copilot printed before, perhaps a passing one', /(?<=\\"parentId\\":\\")[0-9a-f-]+/g, ''],
  [
    'ids of sessions, messages and subagents',
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    { word: 'uuid' },
  ],
  ['ids of subagents of Claude Code', /\ba[0-9a-f]{16}\b/g, { word: 'agent' }],
  ['the run of a subagent of Claude Code', /(?<=\\"run_id\\":\\")[0-9a-z-]+/g, { word: 'run' }],
  // It is reported while the answer still arrives.
  ['tokens a subagent has used so far', /(?<=task_progress.*\\"total_tokens\\":)\d+/g, '0'],
]

/** Progress lines of Copilot, which it marks as not to be kept. Their number varies. */
const passing = /^\{"ts":[\d.]+,"event":"raw",.*\\"ephemeral\\":true/

/** Copilot unpacks itself at its first start on a machine, and says so when that takes more than five seconds. */
const firstStart =
  /^\{"ts":[\d.]+,"event":"output","text":"Package extraction took \d+ms\\n","stream":"stderr"\}$/

/** It differs how a call was answered, and an answer may end before or after the agent has printed it. */
const modelCall = /^\{"ts":[\d.]+,"event":"model_call"/

/** The event log of a trial without what may differ between two runs. */
export function normalEvents(trial: Pick<TrialRecord, 'dir'>): string {
  const text = readFileSync(join(trial.dir, 'events.jsonl'), 'utf8')
  return normalLog(text, trial.dir)
}

export function normalLog(text: string, directory: string): string {
  const differing = [passing, firstStart, modelCall]
  const lines = inOneOrder(text.split('\n').filter((line) => !differing.some((kind) => kind.test(line))))
  const dashed = directory.replaceAll(/[^A-Za-z0-9]/g, '-')
  const withoutPlaces = lines.join('\n').replaceAll(directory, '{trial}').replaceAll(dashed, '{trial-dashed}')
  return differences.reduce((normal, [, pattern, stands]) => replaced(normal, pattern, stands), withoutPlaces)
}

/** Copilot reports the end of a subagent before or after the result of its call, as it happens. */
function inOneOrder(lines: readonly string[]): readonly string[] {
  const ordered = [...lines]
  for (let at = 0; at + 1 < ordered.length; at += 1) {
    const [line = '', next = ''] = ordered.slice(at, at + 2)
    const call = /subagent\.completed.*?\\"toolCallId\\":\\"([^"\\]+)/.exec(line)?.[1]
    if (call !== undefined && next.includes(`"event":"tool_result","id":"${call}"`))
      ordered.splice(at, 2, next, line)
  }
  return ordered
}

function replaced(text: string, pattern: RegExp, stands: string | Numbering): string {
  if (typeof stands === 'string') return text.replaceAll(pattern, stands)
  const seen = new Map<string, string>()
  return text.replaceAll(pattern, (found) => {
    const name = seen.get(found) ?? `{${stands.word}:${seen.size + 1}}`
    seen.set(found, name)
    return name
  })
}
