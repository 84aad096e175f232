import { createColors } from 'picocolors'
import type { AgentStatus, Limit } from '../../guard/status/guard-status.ts'
import { plainLine } from '../../report/plain-text.ts'
import { displayWidth, padRight, wrapText } from '../../report/text-width.ts'
import type { CliContext } from '../context.ts'
import type { GuardView } from './look-at-guard.ts'

const capabilityNames: Readonly<Record<Limit['capability'], string>> = {
  denyTool: 'refuse a tool',
  injectAtStart: 'context at the start',
  injectAfterTool: 'context after a tool',
  refuseStop: 'refuse to stop',
  refuseSubagentStop: 'refuse a subagent to stop',
  relayCompaction: 'relay over compaction',
  failureSignal: 'hear of failures',
  failClosed: 'block when the guard fails',
  vetoConfigChange: 'veto changed settings',
}

const states = {
  armed: ['ok', 'armed'],
  absent: ['--', 'not installed'],
  unproven: ['!!', 'installed, unproven'],
  not_armed: ['!!', 'installed, not armed'],
} as const

const nameMin = 12

/** One block per agent, wrapped to the terminal: where it stands, what is wrong, and aloud what the agent cannot enforce. */
export function printStatus({ root, agents, viewsProblem }: GuardView, { stdout }: CliContext): void {
  const paint = createColors(stdout.color)
  const paints = { ok: paint.green, '--': paint.dim, '!!': paint.yellow }
  const write = (text: string, indent: number): void => {
    for (const line of wrapped(plainLine(text), stdout.columns - indent))
      stdout.write(`${' '.repeat(indent)}${line}\n`)
  }
  write(`Guard in ${root}`, 0)
  if (viewsProblem !== null) write(viewsProblem, 2)
  for (const status of agents) {
    const [mark, words] = states[status.state]
    stdout.write(`\n  ${paints[mark](mark)}  ${paint.bold(padRight(status.agent, nameMin))} ${words}\n`)
    for (const line of factsOf(status)) write(line, 6)
    for (const problem of status.problems) write(`problem: ${problem}`, 6)
    const isUsed = status.state !== 'absent' || status.found !== null
    if (!isUsed || status.limits.length === 0) continue
    stdout.write('      cannot enforce:\n')
    for (const { capability, kind, why } of status.limits)
      write(`${capabilityNames[capability]}${kind === 'partly' ? ' (partly)' : ''}: ${why}`, 8)
  }
}

function factsOf({ found, installs, lastEvent, state }: AgentStatus): readonly string[] {
  return [
    found === null ? 'program: not on the PATH' : `program: ${found.version ?? 'no version'}, ${found.path}`,
    ...installs.map(({ scope, path, presence }) => `${scope}: ${presence}, ${path}`),
    ...(state === 'absent' && lastEvent === null
      ? []
      : [`last event: ${lastEvent ?? 'none in this project'}`]),
  ]
}

/** A path stays in one piece, so that it can be copied; the terminal breaks it where it must. */
function wrapped(text: string, columns: number): string[] {
  const longest = Math.max(...text.split(' ').map(displayWidth))
  return wrapText(text, Math.max(20, columns, longest))
}
