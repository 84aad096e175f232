import type { TaskEvent } from '../contract.ts'

/** One span of a trace: a thing that took time, within another. */
export interface Span {
  /** Unique within the trace; the first is the task itself. */
  readonly key: string
  readonly parent: string | null
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly startMs: number
  readonly endMs: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly failed: string | null
}

/**
 * The trace of a task that ended, after the conventions for generative models: the task is an `invoke_workflow`, a turn of the Editor
 * an `invoke_agent`, a question to a Scout a `chat`.
 */
export function taskSpans(events: readonly TaskEvent[]): readonly Span[] {
  const [first] = events
  const last = events.at(-1)
  if (first === undefined || last === undefined) return []
  const started = events.find((event) => event.kind === 'task_started')
  const ended = events.findLast((event) => event.kind === 'task_ended')
  const model = started?.kind === 'task_started' ? started.model : 'unknown'
  const task: Span = {
    key: 'task',
    parent: null,
    name: 'invoke_workflow gantry.task',
    kind: 'internal',
    startMs: first.ts * 1000,
    endMs: last.ts * 1000,
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': 'gantry.task',
      'gantry.task.id': first.task_id,
      ...(ended?.kind === 'task_ended' && {
        'gantry.task.state': ended.state,
        'gantry.task.attempts': ended.attempts,
        'gantry.task.replans': ended.replans,
      }),
    },
    failed: ended?.kind === 'task_ended' && ended.state !== 'SUCCESS' ? ended.reason : null,
  }
  return [task, ...events.flatMap((event, index) => partOf(event, `${index}`, model))]
}

/** Events tell when something ended and how long it took. */
function partOf(event: TaskEvent, key: string, model: string): readonly Span[] {
  const span = (
    part: Pick<Span, 'name' | 'kind' | 'attributes'> & { readonly failed?: string | null },
    durationMs: number,
  ): readonly Span[] => [
    {
      key,
      parent: 'task',
      failed: null,
      startMs: event.ts * 1000 - durationMs,
      endMs: event.ts * 1000,
      ...part,
    },
  ]
  switch (event.kind) {
    case 'scout_query':
      return span(
        {
          name: `chat ${model}`,
          kind: 'client',
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': providerOf(model),
            'gen_ai.request.model': modelOf(model),
            'gen_ai.agent.name': event.scout,
            'gen_ai.usage.input_tokens': event.input_tokens,
            'gen_ai.usage.output_tokens': event.output_tokens,
            'gantry.tries': event.tries,
          },
          failed: event.success ? null : (event.error ?? 'cancelled'),
        },
        event.duration_ms,
      )
    case 'edit':
      return span(
        {
          name: `invoke_agent ${event.agent}`,
          kind: 'internal',
          attributes: {
            'gen_ai.operation.name': 'invoke_agent',
            'gen_ai.agent.name': event.agent,
            'gen_ai.provider.name': providerOf(model),
            'gen_ai.request.model': modelOf(model),
            'gantry.files': event.files.length,
          },
        },
        event.duration_ms,
      )
    case 'verifier_result':
      return span(
        {
          name: 'gantry.verify',
          kind: 'internal',
          attributes: {
            'gantry.verify.status': event.status,
            'gantry.verify.attempt': event.attempt,
            ...(event.run_id !== null && { 'gantry.run.id': event.run_id }),
          },
          failed: event.failure,
        },
        event.duration_ms,
      )
    default:
      return []
  }
}

function providerOf(model: string): string {
  const provider = model.split(':')[0] ?? ''
  return provider === 'openai-compatible' ? 'openai' : provider || 'unknown'
}

function modelOf(model: string): string {
  return model.includes(':') ? model.slice(model.indexOf(':') + 1) : model
}
