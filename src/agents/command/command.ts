import { resolve } from 'node:path'
import { contentHash, fileHash } from '../../io/content-hash.ts'
import { exec } from '../../io/exec.ts'
import { isFile } from '../../io/path-kind.ts'
import { findPty, ptyArgv } from '../../io/pty.ts'
import { endpointVariables, providerVariables } from '../../models/boundary/contract.ts'
import { agentKind } from '../agent-kind.ts'
import { createStreamParser as createClaudeCodeParser } from '../claude-code/stream.ts'
import { createStreamParser as createCodexParser } from '../codex/stream.ts'
import type { AgentDriver, AgentOutcome, AgentProbe, AgentRequest, ProbeContext } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { createLineReader, createTextReader, type OutputReader } from '../process/output-reader.ts'
import { playProcess } from '../process/play-process.ts'
import { type Argv, anchorPaths, type CommandAgent, prepareLaunch, programOf } from './launch.ts'
import { type CommandAgentConfig, commandAgentSchema } from './schema.ts'
import { createStreamParser as createEventParser } from './stream.ts'

export function createCommandAgent(agent: CommandAgent): AgentDriver {
  const findTerminal = createTerminalSearch()
  return {
    name: 'command',
    modelAccess: { credentials: givenVariables(agent.config), reportsCost: true },
    ...(agent.config.output === 'text' && { reportsTools: false }),
    probe: (context) => probeCommand(agent, context),
    run: (request) => runCommand(agent, findTerminal, request),
  }
}

/** Only the variables in the configuration: an unknown program gets no keys of the caller. */
function givenVariables({ env, inherit_env }: CommandAgent['config']): readonly string[] {
  return providerVariables.filter((name) => inherit_env.includes(name) || Object.hasOwn(env, name))
}

/** Runs the program exactly once: a retry would be a second trial. */
async function runCommand(
  agent: CommandAgent,
  findTerminal: ReturnType<typeof createTerminalSearch>,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const { name, config } = agent
  const launch = prepareLaunch(agent, request)
  const { argv, stdin } = launch
  const [command, ...args] = argv
  request.emit({ event: 'spawn', command, args })
  try {
    if (launch.problem !== null) return notStarted(name, request, launch.problem)
    const inTerminal = config.pty && (request.signal.aborted || (await findTerminal(request.env)))
    const startHint = wordHint(argv)
    return await playProcess(
      {
        name,
        argv: inTerminal ? ptyArgv(argv, { rows: 24, columns: 80 }) : argv,
        env: { ...request.env, ...(request.endpoint && endpointVariables(request.endpoint)) },
        inTerminal,
        createReader: (onProgress) => createOutputReader(config.output, request.emit, onProgress),
        warnings:
          config.pty && !inTerminal ? ['No terminal is available here: the agent ran with pipes.'] : [],
        ...(stdin === null ? {} : { stdin }),
        ...(startHint === null ? {} : { startHint }),
      },
      request,
    )
  } finally {
    launch.cleanUp()
  }
}

/** Linux allows no longer argument. */
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

/**
 * Whether a program with this environment can have a terminal. Checked before the agent starts, and never concluded from how it ended: a timeout does not mean that there was no
 * terminal. A yes is cached per search path; a no may be temporary.
 */
function createTerminalSearch() {
  const found = new Set<string | undefined>()
  return async (env: AgentRequest['env']): Promise<boolean> => {
    if (found.has(env.PATH)) return true
    const hasTerminal = await findPty(env)
    if (hasTerminal) found.add(env.PATH)
    return hasTerminal
  }
}

export const commandKind = agentKind({ schema: commandAgentSchema, hooks: null, create: createCommandAgent })

const versionTimeoutMs = 10_000

/** Finds the program and runs version_command; the agent itself is not started. */
export async function probeCommand(agent: CommandAgent, context: ProbeContext): Promise<AgentProbe> {
  const { config, base } = agent
  const argv = anchorPaths(config.command, base)
  const found = programOf(argv, context.env)
  const version = found.path === null ? null : await askVersion(agent, context)
  const problem = found.problem ?? version?.problem ?? null
  return {
    found: found.path !== null,
    version: version?.text ?? null,
    authenticated: null,
    fingerprint: fingerprint(agent, found.path, version?.text ?? null),
    ...(problem === null ? {} : { problem }),
  }
}

async function askVersion(
  { config, base }: CommandAgent,
  { env, signal }: ProbeContext,
): Promise<{ readonly text: string | null; readonly problem: string | null }> {
  if (config.version_command === undefined) return { text: null, problem: null }
  const result = await exec({
    argv: anchorPaths(config.version_command, base),
    cwd: base,
    env,
    timeoutMs: versionTimeoutMs,
    maxOutputBytes: 4_096,
    ...(signal === undefined ? {} : { signal }),
  })
  if (result.ending !== 'exited' || result.exitCode !== 0) {
    const how =
      result.ending === 'exited' ? `ended with exit code ${result.exitCode}` : `ended as ${result.ending}`
    return {
      text: null,
      problem: `version_command ${how}. ${result.error ?? result.stderr.text.trim()}`.trim(),
    }
  }
  const [first = ''] = (result.stdout.text.trim() || result.stderr.text.trim()).split('\n')
  return { text: first.trim() === '' ? null : first.trim(), problem: null }
}

/** Everything visible that the behaviour can depend on: the settings, the program, and each file in the command. */
function fingerprint({ config, base }: CommandAgent, program: string | null, version: string | null): string {
  const files = config.command
    .slice(1)
    .filter((word) => !word.includes('\0'))
    .map((word) => resolve(base, word))
    .filter(isFile)
  const contents = [...(program === null ? [] : [program]), ...files].map((file) => fileHash(file) ?? '')
  return contentHash([JSON.stringify(config), version ?? '', ...contents])
}
