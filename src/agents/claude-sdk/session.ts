import { resolve } from 'node:path'
import type { AgentEnding } from '../../core/event.ts'
import { definedVariables } from '../../core/expand.ts'
import { asString, defined, type JsonObject } from '../../core/json-fields.ts'
import { findProgram } from '../../io/find-program.ts'
import { isRoot } from '../../io/is-root.ts'
import { type OpenProcess, openProcess } from '../../io/open-process.ts'
import { agentHooks } from '../claude-code/agent-hooks.ts'
import { createBackgroundAgents } from '../claude-code/background-agents.ts'
import { claudeCredentials } from '../claude-code/claude-code.ts'
import { environment, lowest, resumeWarnings } from '../claude-code/launch.ts'
import { atOnce, createFaultGuard, farewell } from '../claude-code/live/conversation.ts'
import { createStreamParser } from '../claude-code/stream.ts'
import type { CliPlace } from '../cli/contract.ts'
import type { AgentHooks, AgentInstance, AgentOutcome, SessionRequest } from '../contract.ts'
import { endingOfAbort, isStoppedByUs, passedLimit } from '../limits.ts'
import { survivorWarnings } from '../process/play-process.ts'
import { createUsageMeter, type UsageMeter } from '../stream.ts'
import type { ClaudeSdkConfig } from './schema.ts'
import { type ClaudeSdk, createPromptQueue, type SdkSpawn, sdkPackage } from './sdk.ts'

export type ClaudeSdkAgent = AgentInstance<ClaudeSdkConfig>

/**
 * One Claude Code process that answers consecutive prompts. Time and turns are limited per prompt, cost for the whole
 * session. Stopping a prompt ends the session.
 */
export function openSdkSession(agent: ClaudeSdkAgent, sdk: ClaudeSdk, request: SessionRequest) {
  const { emit, signal } = request
  const place = { base: agent.base, isRoot: isRoot() }
  const startedAt = performance.now()
  const parser = createStreamParser()
  const background = createBackgroundAgents()
  const prompts = createPromptQueue()
  const stderr = new TextDecoder()
  let child: OpenProcess | null = null
  let stopped: AgentEnding | null = null
  let current: Pending | null = null
  let last: Pick<AgentOutcome, 'ending' | 'exitCode'> | null = null
  const fault = createFaultGuard(() => stop('cancelled'))
  let trouble: string | null = null

  const stop = (why: AgentEnding): void => {
    stopped ??= why
    prompts.end()
    void child?.end(atOnce)
  }
  const abort = (): void => stop(endingOfAbort(signal))

  const spawnProcess = ({ command, args, cwd, env }: SdkSpawn): OpenProcess => {
    child = openProcess({
      argv: [command, ...args],
      cwd: cwd ?? request.workspace,
      env: definedVariables(env),
      onStdout: fault.guard(request.transcript),
      onStderr: fault.guard((chunk) => {
        request.transcript(chunk)
        const text = stderr.decode(chunk, { stream: true })
        if (text !== '') emit({ event: 'output', text, stream: 'stderr' })
      }),
    })
    const { pid } = child
    emit({ event: 'spawn', command, args, ...(pid !== undefined && { pid }) })
    if (signal.aborted) abort()
    return child
  }

  const take = fault.guard((message: JsonObject) => {
    for (const event of parser.push(JSON.stringify(message))) {
      emit(event)
      if (event.event === 'usage') current?.meter.add(event)
      if (event.event === 'message' && event.role === 'assistant' && event.parent_id === undefined)
        current?.onText(event.text)
    }
    background.see(message)
    const passed =
      current === null || stopped !== null
        ? null
        : passedLimit(request, parser.turns() - current.turnsBefore, parser.usage())
    if (passed !== null) stop(passed)
    if (message.type !== 'result' || current === null) return
    const text = asString(message.result)
    if (text !== undefined) current.onText(text)
    if (!background.isBusy()) current.answered(message.is_error === true)
  })

  const talk = async (): Promise<void> => {
    try {
      const options = {
        ...sdkSettings(agent.config, request, place),
        env: sdkEnvironment(agent.config, request, place, claudeCredentials),
        spawnClaudeCodeProcess: spawnProcess,
      }
      for await (const message of sdk.query({ prompt: prompts, options })) take(message)
    } catch (cause) {
      // The process itself shows that and how it ended; this error says why it never started.
      trouble = cause instanceof Error ? cause.message : String(cause)
    }
  }
  const talked = signal.aborted ? Promise.resolve() : talk()
  signal.addEventListener('abort', abort)
  if (child === null && signal.aborted) stop(endingOfAbort(signal))

  const howItEnded = async (): Promise<Pick<AgentOutcome, 'ending' | 'exitCode'>> => {
    if (stopped !== null) return { ending: stopped, exitCode: null }
    const exit = await child?.exit
    if (exit === undefined || exit.error !== undefined) {
      trouble = exit?.error?.message ?? trouble
      return { ending: 'not_started', exitCode: null }
    }
    return exit.signal === null
      ? { ending: 'exited', exitCode: exit.code }
      : { ending: 'crashed', exitCode: null }
  }

  const ask = async (prompt: string): Promise<AgentOutcome> => {
    if (current !== null) throw new Error('a session answers one prompt at a time')
    const meter = createUsageMeter()
    const answer = Promise.withResolvers<boolean>()
    let finalText: string | null = null
    current = {
      meter,
      turnsBefore: parser.turns(),
      onText: (text) => {
        finalText = text
      },
      answered: answer.resolve,
    }
    const timer = setTimeout(stop, Math.min(request.timeoutMs, 2 ** 31 - 1), 'timed_out')
    prompts.push(prompt)
    const isError = await Promise.race([answer.promise, talked.then(() => null)])
    clearTimeout(timer)
    current = null
    if (stopped !== null) await child?.end(atOnce)
    fault.rethrow()
    const { failure, invalid, passed } = parser.end()
    const ended: Pick<AgentOutcome, 'ending' | 'exitCode'> =
      isError === null || stopped !== null
        ? await howItEnded()
        : passed === undefined
          ? { ending: 'exited', exitCode: isError ? 1 : 0 }
          : { ending: passed, exitCode: null }
    last = ended
    const warnings = resumeWarnings(agent.config)
    return {
      ...ended,
      finalText,
      ...meter.total(),
      failure:
        ended.ending === 'not_started'
          ? { reason: 'unavailable', message: `agent ${agent.name}: ${trouble ?? 'it did not start'}` }
          : isStoppedByUs(ended.ending)
            ? null
            : failure,
      ...(invalid !== undefined && { invalid }),
      ...(warnings.length > 0 && { warnings }),
    }
  }

  /** Ends it and emits `complete`. Returns warnings for the reader of the result. */
  const finish = async (): Promise<readonly string[]> => {
    if (current !== null) stop('cancelled')
    prompts.end()
    const survivors = (await child?.end(farewell)) ?? []
    await talked
    signal.removeEventListener('abort', abort)
    const rest = stderr.decode()
    if (rest !== '') emit({ event: 'output', text: rest, stream: 'stderr' })
    if (child === null) emit({ event: 'spawn', command: sdkPackage, args: [] })
    const { ending, exitCode } = last ?? (await howItEnded())
    const duration_secs = (performance.now() - startedAt) / 1_000
    emit({ event: 'complete', exit_code: exitCode, duration_secs, ending })
    fault.rethrow()
    return survivorWarnings({ survivors })
  }

  return { ask, finish }
}

interface Pending {
  readonly meter: UsageMeter
  readonly turnsBefore: number
  onText(text: string): void
  answered(isError: boolean): void
}

function sdkEnvironment(
  config: ClaudeSdkConfig,
  request: SessionRequest,
  place: Pick<CliPlace, 'isRoot'>,
  credentials: readonly string[],
): Readonly<Record<string, string>> {
  const given = Object.entries(request.env).filter(
    ([name]) => request.endpoint === undefined || !credentials.includes(name),
  )
  return { ...Object.fromEntries(given), ...environment(config, request, place) }
}

function sdkSettings(
  config: ClaudeSdkConfig,
  request: SessionRequest,
  { base }: Pick<CliPlace, 'base'>,
): JsonObject {
  const at = (path: string): string => resolve(base, path)
  const { settings } = config
  return defined({
    cwd: request.workspace,
    model: request.model === 'default' ? undefined : request.model,
    pathToClaudeCodeExecutable:
      config.binary === undefined ? undefined : binaryPath(config.binary, request, base),
    permissionMode: config.permission_mode,
    allowDangerouslySkipPermissions: config.permission_mode === 'bypassPermissions',
    plugins: config.plugins.map((path) => ({ type: 'local', path: at(path) })),
    settings: typeof settings === 'string' ? at(settings) : settings,
    settingSources: config.setting_sources,
    strictMcpConfig: config.strict_mcp_config,
    mcpServers: config.mcp_servers,
    allowedTools: config.allowed_tools,
    disallowedTools: config.disallowed_tools,
    agents: config.agents,
    additionalDirectories: config.add_dirs.map(at),
    systemPrompt: systemPrompt(config),
    maxTurns: lowest(config.max_turns, request.maxTurns),
    maxBudgetUsd: lowest(config.max_budget_usd, request.maxCostUsd),
    effort: config.effort,
    fallbackModel: config.fallback_model,
    resume: config.resume,
    includeHookEvents: true,
    hooks: request.hooks === undefined ? undefined : sdkHooks(request.hooks),
  })
}

/** Unless it is replaced, the agent has its own system prompt, as on the command line. */
function systemPrompt({
  system_prompt: own,
  append_system_prompt: append,
}: ClaudeSdkConfig): string | JsonObject {
  if (own === undefined) return defined({ type: 'preset', preset: 'claude_code', append })
  return append === undefined ? own : `${own}\n\n${append}`
}

function binaryPath(binary: string, { env }: SessionRequest, base: string): string {
  return binary.includes('/') ? resolve(base, binary) : (findProgram(binary, env.PATH ?? '') ?? binary)
}

/** The agent hooks in the SDK's form: by event, a list of matchers with their functions. */
export function sdkHooks(hooks: AgentHooks): Readonly<Record<string, readonly JsonObject[]>> {
  return Object.fromEntries(
    Object.entries(agentHooks(hooks)).map(([event, answer]) => [event, [{ hooks: [answer] }]]),
  )
}
