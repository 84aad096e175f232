import { GantryError } from '../../core/error.ts'
import type { AgentEnding } from '../../core/event.ts'
import { version } from '../../core/version.ts'
import { type LoopAnswer, type Model, modelFailureOf, type Tool } from '../../models/contract.ts'
import type { AgentHooks, AgentOutcome, AgentRequest, FailureReport, ModelOpener } from '../contract.ts'
import { createHalt, type Halt } from '../halt.ts'
import { endingOfAbort } from '../limits.ts'
import { notStarted } from '../process/not-started.ts'
import { createRecord, type RunRecord } from './record.ts'
import type { BuiltinAgentConfig } from './schema.ts'
import { refused } from './tools/define-tool.ts'
import { createTools } from './tools/index.ts'

/** One agent of the configuration. */
export interface BuiltinAgent {
  /** The name the user gave it. */
  readonly name: string
  readonly config: BuiltinAgentConfig
  readonly openModel: ModelOpener
}

interface End {
  readonly ending: AgentEnding
  readonly exitCode: number | null
  readonly failure: FailureReport | null
}

/** One prompt, and everything until the model asks for no more tools or a limit is reached. */
export async function runBuiltin(
  { name, config, openModel }: BuiltinAgent,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const startedMs = performance.now()
  const asked = request.model === 'default' ? (config.model ?? 'default') : request.model
  request.emit({ event: 'spawn', command: 'builtin', args: [asked] })
  if (request.signal.aborted) return notStarted(name, request, 'it was cancelled')
  const { env, endpoint, maxCostUsd } = request
  let model: Model
  try {
    model = await openModel(asked, {
      env,
      ...(endpoint !== undefined && { endpoint }),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
    })
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return notStarted(name, request, error.message)
  }
  const halt = createHalt(request)
  const record = createRecord(request, model.name, () => halt.stop('over_budget'))
  let end: End
  try {
    end = endOfLoop(await work(model, config, request, halt, record))
  } catch (error) {
    end = endOfError(error, request, halt)
  } finally {
    halt.dispose()
  }
  const { ending, exitCode, failure } = end
  const duration_secs = (performance.now() - startedMs) / 1_000
  request.emit({ event: 'complete', exit_code: exitCode, duration_secs, ending })
  return { ending, exitCode, finalText: record.finalText(), ...record.usage(), failure }
}

async function work(
  model: Model,
  { instructions, max_turns }: BuiltinAgent['config'],
  request: AgentRequest,
  halt: Halt,
  record: RunRecord,
): Promise<LoopAnswer> {
  const { prompt, workspace, env, hooks, emit } = request
  const tools = createTools({ workspace, env })
  emit({
    event: 'session',
    agent: 'builtin',
    agent_version: version,
    model: model.name,
    tools: tools.map((tool) => tool.name),
  })
  record.begin(prompt)
  const facts = await halt.race(hooks?.begin?.())
  const limits = [request.maxTurns, max_turns].filter((limit) => limit !== undefined)
  return model.loop({
    system: systemPrompt(workspace, [instructions, facts]),
    prompt,
    tools: tools.map((tool) => withHooks(tool, hooks, halt)),
    signal: halt.signal,
    onStep: record.step,
    ...(limits.length > 0 && { maxTurns: Math.min(...limits) }),
    beforeStop: async (text) => {
      const decision = await halt.race(hooks?.beforeStop?.(text))
      if (decision?.kind !== 'refuse') return null
      record.refuseStop(decision.reason)
      return decision.reason
    },
  })
}

function endOfLoop({ ending }: LoopAnswer): End {
  return ending === 'done'
    ? { ending: 'exited', exitCode: 0, failure: null }
    : { ending: 'over_turns', exitCode: null, failure: null }
}

/** Anything that is not a fault of the model or of the environment is a bug, and is thrown again. */
function endOfError(error: unknown, { signal, emit }: AgentRequest, halt: Halt): End {
  const cause = halt.cause()
  if (cause !== null) {
    const ending = cause === 'cancelled' ? endingOfAbort(signal) : cause
    return { ending, exitCode: null, failure: null }
  }
  if (!(error instanceof GantryError)) throw error
  const failed = modelFailureOf(error)
  if (failed?.reason === 'over_budget') return { ending: 'over_budget', exitCode: null, failure: null }
  const failure: FailureReport = { reason: failed?.reason ?? 'unavailable', message: error.message }
  emit({ event: 'error', ...failure })
  return { ending: 'exited', exitCode: 1, failure }
}

/** The same tool, asked for leave first and reported afterwards. A hook that fails keeps the tool from being used. */
function withHooks(tool: Tool, hooks: AgentHooks | undefined, halt: Halt): Tool {
  if (hooks === undefined) return tool
  return {
    ...tool,
    run: async (input, call) => {
      const asked = { id: call.id, tool: tool.name, input }
      const decision = await halt.race(hooks.beforeTool?.(asked))
      if (halt.cause() !== null) return refused('[stopped]')
      if (decision?.kind === 'deny') return refused(decision.reason)
      const answer = await tool.run(input, call)
      const told = await halt.race(hooks.afterTool?.({ ...asked, ...answer }))
      return told ? { ...answer, output: `${answer.output}\n\n${told}` } : answer
    },
  }
}

/** The instructions for every task. */
export function systemPrompt(workspace: string, additions: readonly (string | null | undefined)[]): string {
  const text = `You are a coding agent. You work in the directory ${workspace}, by yourself: nobody answers questions, so decide and go on.

- Look before you change: find the files that matter with list and search, and read them.
- Change files with edit, or with write for new ones. Paths are relative to the workspace; nothing outside it can be read or written.
- Use run for everything else: tests, builds, the tools of the project. Independent calls can be made at the same time.
- Check your work. Run what proves it, and read the output; a command that failed has not proven anything.
- Do what was asked, no more. When it is done, say in a few plain sentences what you did and what you could not do.`
  return [text, ...additions.filter((addition) => addition)].join('\n\n')
}
