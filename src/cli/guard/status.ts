import { Command } from 'commander'
import { createColors } from 'picocolors'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { exitCode } from '../../core/exit-code.ts'
import type { AgentStatus, Limit } from '../../guard/status/guard-status.ts'
import { plainLine } from '../../report/plain-text.ts'
import { displayWidth, padRight, wrapText } from '../../report/text-width.ts'
import type { CliContext } from '../context.ts'
import { agentNames, hookPlace } from './hook-flags.ts'

interface StatusFlags {
  readonly agent?: readonly HookedAgent[]
  readonly root?: string
  readonly json?: boolean
}

export function statusCommand(context: CliContext): Command {
  return new Command('status')
    .description(
      'Show where the guard is installed, whether it is armed, and what each agent cannot enforce.',
    )
    .option('--agent <name>', 'only this agent; repeatable (default: all)', agentNames)
    .option('--root <dir>', 'the project (default: the one around the working directory)')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText('after', '\nExit code 1 when the guard is installed for an agent but not armed.')
    .action(async (flags: StatusFlags) => {
      const { isArmed } = await import('../../guard/status/guard-status.ts')
      const status = await readGuardView(context, flags)
      if (flags.json === true) context.stdout.write(`${JSON.stringify(jsonOf(status), null, 2)}\n`)
      else printStatus(status, context)
      if (!isArmed(status.agents)) context.setExitCode(exitCode.failed)
    })
}

interface GuardView {
  readonly root: string
  readonly node: string
  readonly hookBin: string
  readonly agents: readonly AgentStatus[]
  /** Why the files for people are not up to date; null when they are. */
  readonly viewsProblem: string | null
}

async function readGuardView(context: CliContext, flags: StatusFlags): Promise<GuardView> {
  const { installableAgents } = await import('../../agents/hook-installers.ts')
  const { hookCodecs } = await import('../../agents/hook-codecs.ts')
  const { findAgent } = await import('../../guard/status/guard-status.ts')
  const { guardStatus } = await import('../../guard/status/guard-status.ts')
  const { lastEvents } = await import('../../guard/status/guard-status.ts')
  const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
  const { readSettings } = await import('../../guard-engine/settings/read-settings.ts')
  const { viewsProblem } = await import('../../guard-engine/views/state-directory.ts')
  const { hookBinPath } = await import('../../guard-install/hook-program.ts')
  const { env, signal } = context
  const place = hookPlace(context, flags.root)
  const program = { node: process.execPath, hookBin: hookBinPath() }
  const events = lastEvents(guardHome(env), place.root)
  const agents = await guardStatus({
    agents: flags.agent ?? installableAgents,
    place,
    program,
    codecOf: (agent) => hookCodecs[agent],
    findAgent: (agent) => findAgent(agent, { env, signal }),
    lastEvent: (agent) => events.get(agent) ?? null,
  })
  const { root } = place
  const { settings } = await readSettings({ root, env, userDir: guardHome(env) })
  return { root, ...program, agents, viewsProblem: viewsProblem(root, settings.state.dir) }
}

function jsonOf({ root, node, hookBin, agents, viewsProblem }: GuardView): object {
  return {
    root,
    node,
    hook_bin: hookBin,
    views_problem: viewsProblem,
    agents: agents.map(({ lastEvent, ...agent }) => ({ ...agent, last_event: lastEvent })),
  }
}

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
