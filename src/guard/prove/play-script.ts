import type { AgentDriver } from '../../agents/contract.ts'
import { GantryError } from '../../core/error.ts'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import type { ModelCall, Responder } from '../../models/boundary/contract.ts'
import { createScriptResponder } from '../../models/boundary/script/responder.ts'
import { boundaryScriptSchema } from '../../models/boundary/script/schema.ts'
import type { AgentRun, GuardedProject, PlayOptions, StageOptions } from './contract.ts'

interface Play extends Pick<StageOptions, 'boundary' | 'signal'> {
  readonly driverWith: (more: Readonly<Record<string, unknown>>) => AgentDriver
  readonly root: string
  readonly home: string
  readonly tmp: string
  readonly env: Readonly<Record<string, string>>
}

/** Stops a hanging agent. */
const timeoutMs = 180_000

/** Runs the agent in the project with a script as its model. Returns a value however the agent ends. */
export async function playScript(
  { boundary, driverWith, signal, root, home, tmp, env }: Play,
  script: object,
  options: PlayOptions = {},
): Promise<AgentRun> {
  const calls: ModelCall[] = []
  const places = { workspace: root, home, tmp }
  const session = boundary.open({
    responder: watched(createScriptResponder(boundaryScriptSchema.parse(script), places), calls),
  })
  const events: Untimed<AgentEvent>[] = []
  const chunks: Uint8Array[] = []
  const outcome = await driverWith(options.config ?? {}).run({
    prompt: options.prompt ?? 'Do what the script says.',
    workspace: root,
    model: 'default',
    env: { ...env, ...options.env },
    timeoutMs: options.timeoutMs ?? timeoutMs,
    endpoint: session.endpoint,
    signal: AbortSignal.any([signal, session.stopped]),
    emit: (event) => events.push(event),
    transcript: (chunk) => chunks.push(chunk.slice()),
  })
  await session.close()
  return {
    outcome,
    events,
    calls,
    transcript: Buffer.concat(chunks).toString('utf8'),
    session: events.find((event) => event.event === 'session')?.session_id ?? null,
  }
}

function watched(responder: Responder, calls: ModelCall[]): Responder {
  return {
    ...responder,
    answer: (incoming) => {
      calls.push(incoming.call)
      return responder.answer(incoming)
    },
  }
}

/** Plays the script to its end. Throws when the agent did not get there, because that proves nothing about the guard. */
export async function playWithCalls(
  project: GuardedProject,
  script: object,
  options?: PlayOptions,
): Promise<AgentRun> {
  const performance = await playWithOptionalCalls(project, script, options)
  if (performance.calls.length > 0) return performance
  throw notPlayed('it ended without calling its model')
}

/** The same for an agent that may end successfully without calling its model. */
export async function playWithOptionalCalls(
  project: GuardedProject,
  script: object,
  options?: PlayOptions,
): Promise<AgentRun> {
  const performance = await project.play(script, options)
  const { ending, failure } = performance.outcome
  if (ending === 'cancelled') throw new GantryError('INTERRUPTED', 'the proof was interrupted')
  if (ending === 'exited' && failure === null) return performance
  throw notPlayed(failure?.message ?? ending)
}

function notPlayed(why: string): GantryError {
  return new GantryError('SPAWN_FAILED', `the agent did not follow the script: ${why}`)
}
