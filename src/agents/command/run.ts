import type { AgentEnding } from '../../core/event.ts'
import { type ExecResult, exec } from '../../io/exec.ts'
import { ptyArgv } from '../../io/pty.ts'
import type { AgentOutcome, AgentRequest, FailureReport } from '../contract.ts'
import { passedLimit } from '../limits.ts'
import type { Argv } from './argv.ts'
import type { CommandAgent } from './command-agent.ts'
import { createOutputReader } from './output.ts'
import { type Launch, prepareLaunch } from './prepare-launch.ts'
import type { TerminalSearch } from './terminal-search.ts'

/** Runs the program once, whatever happens: a second try would be a second trial. */
export async function runCommand(
  agent: CommandAgent,
  findTerminal: TerminalSearch,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const launch = prepareLaunch(agent, request)
  const [command, ...args] = launch.argv
  request.emit({ event: 'spawn', command, args })
  try {
    if (launch.problem !== null) return notStarted(agent, request, launch.problem)
    const inTerminal = agent.config.pty && (request.signal.aborted || (await findTerminal(request.env)))
    return await play(agent, launch, inTerminal, request)
  } finally {
    launch.cleanUp()
  }
}

async function play(
  agent: CommandAgent,
  launch: Launch,
  inTerminal: boolean,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const argv = inTerminal ? ptyArgv(launch.argv, { rows: 24, columns: 80 }) : launch.argv
  const stop = new AbortController()
  let passed: ReturnType<typeof passedLimit> = null
  const reader = createOutputReader(agent.config.output, request.emit, () => {
    passed ??= request.signal.aborted ? null : passedLimit(request, reader.turns(), reader.usage())
    if (passed !== null) stop.abort()
  })
  const result = await exec({
    argv,
    cwd: request.workspace,
    env: request.env,
    timeoutMs: request.timeoutMs,
    endsWithUs: true,
    signal: AbortSignal.any([request.signal, stop.signal]),
    // The reader has seen every byte; nothing is looked up in the capture.
    maxOutputBytes: 4_096,
    onStdout: (chunk) => {
      request.transcript(chunk)
      reader.stdout(chunk)
    },
    onStderr: (chunk) => {
      request.transcript(chunk)
      reader.stderr(chunk)
    },
    ...(launch.stdin === null ? {} : { stdin: launch.stdin }),
  })
  const { finalText, failure, costUsd, tokens } = reader.end()
  if (result.ending === 'not_started') return notStarted(agent, request, startProblem(argv, result))
  const ending =
    inTerminal && isSignalCode(result.exitCode) ? (passed ?? 'crashed') : endingOf(result, passed)
  const warnings = [...terminalWarnings(agent, inTerminal), ...survivorWarnings(result)]
  const exitCode = ending === 'exited' ? result.exitCode : null
  request.emit({ event: 'complete', exit_code: exitCode, duration_secs: result.durationMs / 1_000, ending })
  return {
    ending,
    exitCode,
    finalText,
    costUsd,
    tokens,
    failure: isStoppedByUs(ending) ? null : failure,
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}

/** The first cause wins: output that arrives while a process is being stopped for its time cannot turn into another end. */
function endingOf(result: ExecResult, passed: 'over_budget' | 'over_turns' | null): AgentEnding {
  switch (result.ending) {
    case 'timed_out':
      return 'timed_out'
    case 'aborted':
      return passed ?? 'cancelled'
    case 'exited':
      return passed ?? 'exited'
    case 'signalled':
      return passed ?? 'crashed'
    case 'not_started':
      return 'not_started'
  }
}

/** What an agent complains about while we stop it is our doing. A time limit is different: it may have waited for its model. */
function isStoppedByUs(ending: AgentEnding): boolean {
  return ending === 'over_budget' || ending === 'over_turns' || ending === 'cancelled'
}

/** Whoever stands between us and a program in a terminal can pass on its death by signal n only as exit code 128 + n. */
function isSignalCode(exitCode: number | null): boolean {
  return exitCode !== null && exitCode > 128 && exitCode < 160
}

function terminalWarnings({ config }: CommandAgent, inTerminal: boolean): readonly string[] {
  return config.pty && !inTerminal ? ['No terminal could be had here: the agent ran with pipes.'] : []
}

function survivorWarnings({ survivors = [] }: ExecResult): readonly string[] {
  return survivors.length === 0
    ? []
    : [`Processes the agent left behind could not be ended: ${survivors.join(', ')}.`]
}

/** Linux takes no longer word in a command line. */
const maxWordBytes = 128 * 1024 - 1

function startProblem(argv: Argv, { error }: ExecResult): string {
  const tooLong = argv.some((word) => Buffer.byteLength(word) > maxWordBytes)
  const hint = tooLong
    ? ' The prompt is too long for a command line: use `prompt: stdin` or `prompt: file`.'
    : ''
  return `${error ?? `cannot start ${argv[0]}`}.${hint}`
}

function notStarted({ name }: CommandAgent, request: AgentRequest, problem: string): AgentOutcome {
  const ending = request.signal.aborted ? 'cancelled' : 'not_started'
  const failure: FailureReport | null =
    ending === 'cancelled' ? null : { reason: 'unavailable', message: `agent ${name}: ${problem}` }
  request.emit({ event: 'complete', exit_code: null, duration_secs: 0, ending })
  return { ending, exitCode: null, finalText: null, costUsd: null, tokens: null, failure }
}
