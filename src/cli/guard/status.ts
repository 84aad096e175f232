import { Command } from 'commander'
import { createColors } from 'picocolors'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { counted } from '../../core/counted.ts'
import { exitCode } from '../../core/exit-code.ts'
import { snakeKeys } from '../../core/json-fields.ts'
import type { AgentStatus, Limit } from '../../guard/status/guard-status.ts'
import { padRight, wrapWords } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
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
    .addHelpText(
      'after',
      '\nExit code 1 when the guard is installed for an agent but not armed, when its settings are invalid, when another program changed its ledger, or when a change of a protected file waits for `guard seen`.',
    )
    .action(async (flags: StatusFlags) => {
      const { isArmed } = await import('../../guard/status/guard-status.ts')
      const status = await readGuardView(context, flags)
      const document = { ...snakeKeys(status), agents: status.agents.map(snakeKeys) }
      if (flags.json === true) context.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
      else printStatus(status, context)
      const isClean = status.settingsProblem === null && status.ledgerProblem === null
      if (!isArmed(status.agents) || !isClean || status.unseenChanges.length > 0)
        context.setExitCode(exitCode.failed)
    })
}

type GuardView = Awaited<ReturnType<typeof readGuardView>>

async function readGuardView(context: CliContext, flags: StatusFlags) {
  const { installableAgents } = await import('../../agents/hook-installers.ts')
  const { guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
  const { foreignLines, latestHistory } = await import('../../guard-engine/ledger/read-ledger.ts')
  const { sealedNotice, settingsInForce } = await import('../../guard-engine/settings/settings-in-force.ts')
  const { viewsProblem } = await import('../../guard-engine/views/state-directory.ts')
  const { ownHookProgram } = await import('../../guard-install/hook-program.ts')
  const { statusOfGuard } = await import('../../library/open-guard.ts')
  const { env, signal } = context
  const place = hookPlace(context, flags.root)
  const program = ownHookProgram()
  const agents = await statusOfGuard(place, flags.agent ?? installableAgents, signal)
  const { root } = place
  const history = latestHistory(guardHome(env), root)
  const read = await settingsInForce({ root, env, userDir: guardHome(env) }, history)
  const { unlockedUntilMs } = history.gate
  const foreign = foreignLines(guardHome(env), root)
  return {
    root,
    ...program,
    /** Why the files for people are not up to date; null when they are. */
    viewsProblem: viewsProblem(root, read.settings.state.dir),
    /** What is wrong with the settings; null when they are valid. */
    settingsProblem: read.kind === 'broken' ? read.problem : null,
    /** Lines of the ledger that do not count; null when there are none. */
    ledgerProblem:
      foreign === 0
        ? null
        : `${counted(foreign, 'line')} of the ledger of this project ${foreign === 1 ? 'was' : 'were'} written or changed by another program, or the key was replaced: ${foreign === 1 ? 'it does' : 'they do'} not count`,
    sealedSettings: sealedNotice(read),
    /** Until when agents may change the guard's own files, ISO 8601; null when they may not. */
    unlockedUntil: unlockedUntilMs > Date.now() ? new Date(unlockedUntilMs).toISOString() : null,
    /** Protected files that a call of an agent changed, and that no person has acknowledged. */
    unseenChanges: [
      ...new Set(history.protection.unseen.flatMap(({ path, by }) => (by === null ? [] : [path]))),
    ],
    agents,
  }
}

const capabilityNames: Readonly<Record<Limit['capability'], string>> = {
  denyTool: 'refuse a tool',
  injectAtStart: 'context at the start',
  injectAfterTool: 'context after a tool',
  refuseStop: 'refuse to stop',
  refuseSubagentStop: "refuse a subagent's stop",
  relayCompaction: 'relay over compaction',
  failureSignal: 'see failures',
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

/** One block per agent, wrapped to the terminal: its state, problems, and what the agent cannot enforce. */
export function printStatus(
  {
    root,
    agents,
    viewsProblem,
    settingsProblem,
    ledgerProblem,
    sealedSettings,
    unlockedUntil,
    unseenChanges,
  }: GuardView,
  { stdout }: CliContext,
): void {
  const paint = createColors(stdout.color)
  const paints = { ok: paint.green, '--': paint.dim, '!!': paint.yellow }
  const write = (text: string, indent: number): void => {
    for (const line of wrapWords(plainLine(text), stdout.columns - indent))
      stdout.write(`${' '.repeat(indent)}${line}\n`)
  }
  write(`Guard in ${root}`, 0)
  if (viewsProblem !== null) write(viewsProblem, 2)
  if (sealedSettings !== null) write(sealedSettings, 2)
  if (unlockedUntil !== null)
    write(
      `unlocked until ${unlockedUntil}: agents may change the guard's own files; gantry guard lock ends it`,
      2,
    )
  if (unseenChanges.length > 0)
    write(
      `protected files changed during calls of an agent: ${unseenChanges.join(', ')}; the end of the work is refused until a person has run 'gantry guard seen'`,
      2,
    )
  for (const problem of [
    ...(settingsProblem?.split('\n') ?? []),
    ...(ledgerProblem === null ? [] : [ledgerProblem]),
  ])
    write(`problem: ${problem}`, 2)
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

function factsOf({ agent, found, installs, lastEvent, state, protection }: AgentStatus): readonly string[] {
  return [
    found === null
      ? `program: ${agent} is not on the PATH`
      : `program: ${found.version ?? 'no version'}, ${found.path}`,
    ...installs.map(({ scope, path, presence }) => `${scope}: ${presence}, ${path}`),
    ...(state === 'absent' && lastEvent === null
      ? []
      : [`last event: ${lastEvent ?? 'none in this project'}`]),
    ...(state === 'absent' ? [] : [`protected files: ${protection.layer} (${protection.why})`]),
  ]
}
