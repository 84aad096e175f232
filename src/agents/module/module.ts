import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import type { AgentEnding } from '../../core/event.ts'
import { defined } from '../../core/json-fields.ts'
import { modulePath } from '../../core/module-path.ts'
import { type ImportedModule, importModule } from '../../io/import-module.ts'
import { faultOf, OwnCodeFault, runOwnCode } from '../../io/own-code.ts'
import { endpointVariables, providerVariables } from '../../models/boundary/contract.ts'
import { agentKind } from '../agent-kind.ts'
import { modelKeys, placeKeys } from '../cli-agent-shape.ts'
import { createStreamParser } from '../command/stream.ts'
import type { AgentDriver, AgentInstance, AgentOutcome, AgentProbe, AgentRequest } from '../contract.ts'
import { createHalt, type Halt } from '../halt.ts'
import { isStoppedByUs, passedLimit } from '../limits.ts'
import { notStarted } from '../process/not-started.ts'
import type { StreamParser } from '../stream.ts'
import {
  type AgentDefinition,
  type AgentResult,
  type AgentWork,
  type ReportedEvent,
  readAgentDefinition,
} from './define-agent.ts'

const moduleAgentSchema = z.strictObject({
  driver: z
    .literal('module')
    .describe('Runs an agent that a module defines with defineAgent, in this process.'),
  module: modulePath.describe('The module: .js, .mjs or .ts, relative to this file.'),
  ...placeKeys,
  env: placeKeys.env.describe(
    `Environment of the agent. $\{NAME} in a value is replaced by the variable of the caller.`,
  ),
  inherit_env: placeKeys.inherit_env.describe(
    'Variables of the caller to pass to the agent, such as an API key.',
  ),
  ...modelKeys,
})

/**
 * An agent from a user's module. `probe` loads the module, and only if the agent is used. A module that does not
 * define an agent throws GantryError: it is a mistake in a user's file.
 */
function createModuleAgent({
  name,
  config,
  base,
}: AgentInstance<z.output<typeof moduleAgentSchema>>): AgentDriver {
  const path = config.module
  let loading: Promise<ImportedModule<AgentDefinition>> | null = null
  const load = (): Promise<ImportedModule<AgentDefinition>> => {
    // Once, so that the probed module is the one that runs.
    loading ??= importModule({
      path,
      base,
      relativeTo: 'the directory of gantry.yaml',
      what: 'an agent',
      hint: 'Write: export default defineAgent({ name, run }).',
      read: readAgentDefinition,
    })
    return loading
  }
  return {
    name: 'module',
    modelAccess: {
      // Only the variables in the configuration, as for a command.
      credentials: providerVariables.filter(
        (variable) => config.inherit_env.includes(variable) || Object.hasOwn(config.env, variable),
      ),
      reportsCost: true,
    },
    async probe() {
      const found = await load()
      if (found.kind === 'loaded') return probeOf(found.value, found.fingerprint)
      if (found.kind === 'missing')
        return {
          found: false,
          version: null,
          authenticated: null,
          fingerprint: '',
          problem: found.message,
          hint: found.hint,
        }
      throw new GantryError('INVALID_FILE', `agent ${name}: ${found.message}`, {
        hint: found.hint,
        cause: found.cause,
      })
    },
    async run(request) {
      const found = await load()
      request.emit({ event: 'spawn', command: 'module', args: [path] })
      return found.kind === 'loaded'
        ? runDefinedAgent(found.value, request)
        : notStarted(name, request, found.message)
    },
  }
}

export function createPassedAgent(name: string, definition: AgentDefinition): AgentDriver {
  return {
    name: 'module',
    modelAccess: { credentials: providerVariables, reportsCost: true },
    probe: async () => probeOf(definition, ''),
    async run(request) {
      request.emit({ event: 'spawn', command: 'module', args: [name] })
      return runDefinedAgent(definition, request)
    },
  }
}

function probeOf({ version }: AgentDefinition, fingerprint: string): AgentProbe {
  return { found: true, version: version ?? null, authenticated: null, fingerprint }
}

export const moduleKind = agentKind({ schema: moduleAgentSchema, hooks: null, create: createModuleAgent })

/** How long an agent may take to stop once its signal is aborted. After that Gantry continues without it. */
const stopGraceMs = 2_000

/** Runs a user-defined agent in this process. A throw, a hang and invalid reports are outcomes. */
async function runDefinedAgent(definition: AgentDefinition, request: AgentRequest): Promise<AgentOutcome> {
  const started = performance.now()
  const halt = createHalt(request)
  const parser = createStreamParser()
  const log = openLog(request, parser, halt)
  try {
    const end = halt.cause() === null ? await play(definition, workOf(request, halt, log), halt) : null
    if (end?.text !== undefined && end.text !== parser.end().finalText)
      log.emit({ event: 'message', role: 'assistant', text: end.text })
    return close(request, parser, halt.cause(), end, performance.now() - started)
  } finally {
    log.close()
    halt.dispose()
  }
}

/** How the agent itself ended. null: it was still working when it had to stop. */
interface OwnEnd {
  readonly exitCode: number | null
  readonly text?: string
  readonly warning?: string
}

async function play(definition: AgentDefinition, work: AgentWork, halt: Halt): Promise<OwnEnd | null> {
  const { name, version } = definition
  work.emit(defined({ event: 'session', agent: name, model: work.model, agent_version: version }))
  const running = start(definition, work)
  const early = await halt.race(running)
  if (early !== null && early !== undefined) return early
  const late = await Promise.race([running, new Promise<null>((done) => setTimeout(done, stopGraceMs, null))])
  return late === null ? { exitCode: null, warning: ignoredSignal } : null
}

const ignoredSignal =
  'the agent did not stop when its signal was aborted; its code may still be running in this process'

/** Never rejects. */
async function start(definition: AgentDefinition, work: AgentWork): Promise<OwnEnd> {
  try {
    const act = (signal: AbortSignal) => definition.run({ ...work, signal })
    return endOf(await runOwnCode(`the agent ${definition.name}`, act, { signal: work.signal }))
  } catch (cause) {
    const error = cause instanceof OwnCodeFault ? (cause.cause ?? cause) : cause
    const text = error instanceof Error ? (error.stack ?? error.message) : faultOf(error)
    if (!work.signal.aborted) work.emit({ event: 'output', stream: 'stderr', text: `${text}\n` })
    const exitCode = cause instanceof OwnCodeFault ? cause.exitCode : null
    return { exitCode, warning: `the agent ${faultOf(cause)}` }
  }
}

function endOf(result: AgentResult): OwnEnd {
  if (typeof result === 'string') return { exitCode: 0, text: result }
  if (typeof result !== 'object' || result === null) return { exitCode: 0 }
  const { text, exitCode = 0 } = result
  if (!Number.isInteger(exitCode)) throw new OwnCodeFault("returned an 'exitCode' that is not an integer")
  if (text !== undefined && typeof text !== 'string')
    throw new OwnCodeFault("returned a 'text' that is not a string")
  return { exitCode, ...(text !== undefined && { text }) }
}

function workOf(request: AgentRequest, halt: Halt, log: Pick<AgentWork, 'emit'>): AgentWork {
  const { prompt, workspace, model, env, maxTurns, maxCostUsd, endpoint } = request
  return {
    prompt,
    workspace,
    model,
    env: { ...env, ...(endpoint !== undefined && endpointVariables(endpoint)) },
    signal: halt.signal,
    emit: log.emit,
    ...defined({ maxTurns, maxCostUsd }),
  }
}

/** Events use the same reader as those of a program, so an invalid one becomes `raw`, and changing one later has no effect. */
function openLog(request: AgentRequest, parser: StreamParser, halt: Halt) {
  const encoder = new TextEncoder()
  let isOpen = true
  return {
    emit(event: ReportedEvent): void {
      if (!isOpen) return
      const line = JSON.stringify(event)
      request.transcript(encoder.encode(`${line}\n`))
      for (const read of parser.push(line)) request.emit(read)
      const passed = passedLimit(request, parser.turns(), parser.usage())
      if (passed !== null) halt.stop(passed)
    },
    /** Later reports are dropped. */
    close(): void {
      isOpen = false
    },
  }
}

function close(
  request: AgentRequest,
  parser: StreamParser,
  halted: ReturnType<Halt['cause']>,
  end: OwnEnd | null,
  durationMs: number,
): AgentOutcome {
  const exitCode = halted === null ? (end?.exitCode ?? null) : null
  const ending: AgentEnding = halted ?? (exitCode === null ? 'crashed' : 'exited')
  const { failure, ...reported } = parser.end()
  request.emit({ event: 'complete', exit_code: exitCode, duration_secs: durationMs / 1_000, ending })
  return {
    ...reported,
    ending,
    exitCode,
    failure: isStoppedByUs(ending) ? null : failure,
    turns: parser.turns(),
    ...(end?.warning !== undefined && { warnings: [end.warning] }),
  }
}
