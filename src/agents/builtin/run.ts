import { GantryError } from '../../core/error.ts'
import type { AgentEnding, AgentEvent, Untimed } from '../../core/event.ts'
import { asObject, asString, defined } from '../../core/json-fields.ts'
import { version } from '../../core/version.ts'
import {
  type LoopAnswer,
  type LoopStep,
  type Model,
  modelFailureOf,
  type Tool,
} from '../../models/contract.ts'
import type {
  AgentHooks,
  AgentInstance,
  AgentOutcome,
  AgentRequest,
  FailureReport,
  ModelOpener,
} from '../contract.ts'
import { createHalt, type Halt } from '../halt.ts'
import { endingOfAbort, passedLimit } from '../limits.ts'
import { notStarted } from '../process/not-started.ts'
import { createUsageMeter } from '../stream.ts'
import type { BuiltinAgentConfig } from './schema.ts'
import { refused } from './tools/define-tool.ts'
import { createTools } from './tools/index.ts'

export interface BuiltinAgent extends Omit<AgentInstance<BuiltinAgentConfig>, 'base'> {
  readonly openModel: ModelOpener
}

interface End {
  readonly ending: AgentEnding
  readonly exitCode: number | null
  readonly failure?: FailureReport
}

function stopped(ending: AgentEnding): End {
  return { ending, exitCode: null }
}

/** Runs one prompt, until the model requests no more tools or a limit is reached. */
export async function runBuiltin(
  { name, config, openModel }: BuiltinAgent,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const startedMs = performance.now()
  const asked = request.model === 'default' ? (config.model ?? 'default') : request.model
  request.emit({ event: 'spawn', command: 'builtin', args: [asked] })
  if (request.signal.aborted) return notStarted(name, request, 'it was cancelled')
  const { env, endpoint, maxCostUsd, raiseCostLimit } = request
  let model: Model
  try {
    model = await openModel(asked, {
      env,
      ...(endpoint !== undefined && { endpoint }),
      ...(maxCostUsd !== undefined && { maxCostUsd, raiseCostLimit }),
    })
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return notStarted(name, request, error.message)
  }
  const halt = createHalt(request)
  const record = createRecord(request, model.name, () => halt.stop('over_budget'))
  let end: End
  try {
    const { ending } = await work(model, config, request, halt, record)
    end = ending === 'done' ? { ending: 'exited', exitCode: 0 } : stopped('over_turns')
  } catch (error) {
    end = endOfError(error, request, halt)
  } finally {
    halt.dispose()
  }
  const { ending, exitCode, failure = null } = end
  const duration_secs = (performance.now() - startedMs) / 1_000
  request.emit({ event: 'complete', exit_code: exitCode, duration_secs, ending })
  return { ending, exitCode, finalText: record.finalText(), ...record.usage(), failure }
}

async function work(
  model: Model,
  { instructions, max_turns }: BuiltinAgent['config'],
  request: AgentRequest,
  halt: Halt,
  record: ReturnType<typeof createRecord>,
): Promise<LoopAnswer> {
  const { prompt, workspace, env, hooks, emit, sandbox } = request
  const tools = createTools({ workspace, env, sandbox })
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

/** Any error that is not caused by the model or the environment is a bug, and is rethrown. */
function endOfError(error: unknown, { signal, emit }: AgentRequest, halt: Halt): End {
  const cause = halt.cause()
  if (cause !== null) return stopped(cause === 'cancelled' ? endingOfAbort(signal) : cause)
  if (!(error instanceof GantryError)) throw error
  const failed = modelFailureOf(error)
  if (failed?.reason === 'over_budget') return stopped('over_budget')
  const failure: FailureReport = { reason: failed?.reason ?? 'unavailable', message: error.message }
  emit({ event: 'error', ...failure })
  return { ending: 'exited', exitCode: 1, failure }
}

/** The same tool with hooks before and after it. A failing hook prevents the tool from being used. */
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
      const context = await halt.race(hooks.afterTool?.({ ...asked, ...answer }))
      return context ? { ...answer, output: `${answer.output}\n\n${context}` } : answer
    },
  }
}

export function systemPrompt(workspace: string, additions: readonly (string | null | undefined)[]): string {
  const text = `You are a coding agent. You work in the directory ${workspace}. The user does not answer while you work, so decide and go on. End with a question only where the task says how to ask.

- Look before you change: find the files that matter with list and search, and read them.
- Change files with edit, or with write for new ones. Paths are relative to the workspace; nothing outside it can be read or written.
- Use run for everything else: tests, builds, the tools of the project. Independent calls can be made at the same time.
- Check your work. Run what proves it, and read the output; a command that failed has not proven anything.
- Do what was asked, no more. When it is done, say in a few plain sentences what you did and what you could not do.`
  return [text, ...additions.filter((addition) => addition)].join('\n\n')
}

/** Records one run as events and as lines of the transcript. `onOverBudget` is called when the cost of the model exceeds the limit of the request. */
function createRecord(request: AgentRequest, model: string, onOverBudget: () => void) {
  const { emit, transcript } = request
  const meter = createUsageMeter()
  const encoder = new TextEncoder()
  let finalText: string | null = null
  const print = (line: object): void => transcript(encoder.encode(`${JSON.stringify(line)}\n`))
  return {
    begin: (prompt: string): void => print({ kind: 'prompt', model, text: prompt }),
    step: (step: LoopStep): void => {
      print(step)
      const event = eventOfStep(step, model)
      emit(event)
      if (step.kind === 'text') finalText = step.text
      if (event.event !== 'usage') return
      meter.add(event)
      if (passedLimit(request, 0, meter.total()) !== null) onOverBudget()
    },
    refuseStop(reason: string): void {
      print({ kind: 'stop_refused', reason })
      emit({ event: 'message', role: 'system', text: reason })
    },
    finalText: (): string | null => finalText,
    usage: meter.total,
  }
}

function eventOfStep(step: LoopStep, model: string): Untimed<AgentEvent> {
  switch (step.kind) {
    case 'thinking':
      return { event: 'message', role: 'thinking', text: step.text, model }
    case 'text':
      return { event: 'message', role: 'assistant', text: step.text, model }
    case 'usage':
      return defined({
        event: 'usage' as const,
        model: step.model,
        input_tokens: step.tokens.input,
        output_tokens: step.tokens.output,
        cache_read_tokens: step.tokens.cacheRead,
        cache_write_tokens: step.tokens.cacheWrite,
        thinking_tokens: step.tokens.thinking,
        cost_usd: step.costUsd ?? undefined,
      })
    case 'tool_call': {
      const { id, name: tool, input } = step
      const command = tool === 'run' ? asString(asObject(input)?.command) : undefined
      return defined({ event: 'tool_call' as const, id, tool, command, input })
    }
    case 'tool_result':
      return defined({
        event: 'tool_result' as const,
        id: step.id,
        output: step.output,
        exit_code: step.exitCode,
        is_error: step.isError,
        duration_secs: step.durationMs / 1_000,
      })
  }
}
