import { ptyArgv } from '../../io/pty.ts'
import { endpointVariables } from '../../models/boundary/contract.ts'
import type { AgentOutcome, AgentRequest } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { playProcess } from '../process/play-process.ts'
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
    if (launch.problem !== null) return notStarted(agent.name, request, launch.problem)
    const inTerminal = agent.config.pty && (request.signal.aborted || (await findTerminal(request.env)))
    return await play(agent, launch, inTerminal, request)
  } finally {
    launch.cleanUp()
  }
}

function play(
  { name, config }: CommandAgent,
  { argv, stdin }: Launch,
  inTerminal: boolean,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const startHint = wordHint(argv)
  return playProcess(
    {
      name,
      argv: inTerminal ? ptyArgv(argv, { rows: 24, columns: 80 }) : argv,
      env: { ...request.env, ...(request.endpoint && endpointVariables(request.endpoint)) },
      inTerminal,
      createReader: (onProgress) => createOutputReader(config.output, request.emit, onProgress),
      warnings: config.pty && !inTerminal ? ['No terminal could be had here: the agent ran with pipes.'] : [],
      ...(stdin === null ? {} : { stdin }),
      ...(startHint === null ? {} : { startHint }),
    },
    request,
  )
}

/** Linux takes no longer word in a command line. */
const maxWordBytes = 128 * 1024 - 1

function wordHint(argv: Argv): string | null {
  const tooLong = argv.some((word) => Buffer.byteLength(word) > maxWordBytes)
  return tooLong ? 'The prompt is too long for a command line: use `prompt: stdin` or `prompt: file`.' : null
}
