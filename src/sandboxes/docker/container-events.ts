import { asObject, asString, parseObject } from '../../core/json-fields.ts'
import { streamOverUnixHttp } from '../../io/unix-http.ts'
import { onWire } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'

/** The engine's events of one container. */
export interface ContainerEvents {
  /** How often it has run out of memory. */
  oomCount(): number
  /** How often someone has sent it a signal through the engine. */
  killCount(): number
  /** Resolves when an exec or the container has ended, or the engine has stopped sending events. */
  endOf(execId: string): Promise<void>
  close(): void
  /** Aborted by `close`. */
  readonly closed: AbortSignal
}

/** Listens from before the container is created. Events that are lost when the engine dies are found by asking it. */
export function followContainer(connection: EngineConnection, name: string): ContainerEvents {
  const stop = new AbortController()
  const ended = new Set<string>()
  const waiting = new Map<string, () => void>()
  let ooms = 0
  let kills = 0
  let isOver = false
  const over = (): void => {
    isOver = true
    for (const wake of waiting.values()) wake()
  }
  const take = linesOf((line) => {
    const { Action, Actor } = parseObject(line) ?? {}
    if (Action === 'oom') ooms++
    if (Action === 'kill') kills++
    if (Action === 'die') over()
    const execId = asString(asObject(asObject(Actor)?.Attributes)?.execID)
    if (Action !== 'exec_die' || execId === undefined) return
    ended.add(execId)
    waiting.get(execId)?.()
  })
  const filters = JSON.stringify({ type: ['container'], container: [name] })
  const call = onWire(connection, { method: 'GET', path: '/events', query: { filters }, signal: stop.signal })
  void streamOverUnixHttp({ ...call, timeoutMs: 60_000 }, take).then(async (stream) => {
    if (stream.kind === 'stream') await stream.ended
    over()
  })
  return {
    oomCount: () => ooms,
    killCount: () => kills,
    endOf: (execId) =>
      isOver || ended.has(execId) ? Promise.resolve() : new Promise((settle) => waiting.set(execId, settle)),
    close: () => stop.abort(),
    closed: stop.signal,
  }
}

function linesOf(onLine: (line: string) => void): (chunk: Buffer) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}
