import { findPty, ptyArgv } from '../../io/pty.ts'
import { endpointVariables, providerVariables } from '../../models/boundary/contract.ts'
import { agentKind } from '../agent-kind.ts'
import { createStreamParser as createClaudeCodeParser } from '../claude-code/stream.ts'
import { createStreamParser as createCodexParser } from '../codex/stream.ts'
import type { AgentDriver, AgentOutcome, AgentRequest } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { createLineReader, createTextReader, type OutputReader } from '../process/output-reader.ts'
import { playProcess } from '../process/play-process.ts'
import { type Argv, type CommandAgent, type Launch, prepareLaunch } from './launch.ts'
import { probeCommand } from './probe.ts'
import { type CommandAgentConfig, commandAgentSchema } from './schema.ts'
import { createStreamParser as createEventParser } from './stream.ts'

/** A driver for any command-line program. */
export function createCommandAgent(agent: CommandAgent): AgentDriver {
  const findTerminal = createTerminalSearch()
  return {
    name: 'command',
    modelAccess: { credentials: givenVariables(agent.config), reportsCost: true },
    probe: (context) => probeCommand(agent, context),
    run: (request) => runCommand(agent, findTerminal, request),
  }
}

/** Only what the configuration hands over: an unknown program is not given keys because we hold some. */
function givenVariables({ env, inherit_env }: CommandAgent['config']): readonly string[] {
  return providerVariables.filter((name) => inherit_env.includes(name) || Object.hasOwn(env, name))
}

/** Runs the program once, whatever happens: a second try would be a second trial. */
async function runCommand(
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

/** `onProgress` is called whenever turns or usage may have changed. */
function createOutputReader(
  format: CommandAgentConfig['output'],
  emit: AgentRequest['emit'],
  onProgress: () => void,
): OutputReader {
  switch (format) {
    case 'text':
      return createTextReader(emit)
    case 'events':
      return createLineReader(createEventParser(), emit, onProgress)
    case 'claude-stream-json':
      return createLineReader(createClaudeCodeParser(), emit, onProgress)
    case 'codex-json':
      return createLineReader(createCodexParser(), emit, onProgress)
  }
}

/** Can a program with this environment be given a terminal? */
type TerminalSearch = (env: Readonly<Record<string, string>>) => Promise<boolean>

/**
 * Asked before the agent starts, and never concluded from how it ended: an agent that takes too long is not one without a
 * terminal. A yes is remembered per search path; a no may pass.
 */
function createTerminalSearch(): TerminalSearch {
  const found = new Set<string | undefined>()
  return async (env) => {
    if (found.has(env.PATH)) return true
    const hasTerminal = await findPty(env)
    if (hasTerminal) found.add(env.PATH)
    return hasTerminal
  }
}

export const commandKind = agentKind({
  schema: commandAgentSchema,
  hooks: null,
  create: createCommandAgent,
})
