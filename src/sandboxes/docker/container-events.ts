import { streamOverUnixHttp } from '../../io/unix-http.ts'
import { onWire } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'

/** What the engine tells of one container while it lives. */
export interface ContainerEvents {
  /** Times it ran out of memory so far. */
  oomCount(): number
  /** Settles when an exec has ended, the container has, or the engine has stopped telling. */
  endOf(execId: string): Promise<void>
  close(): void
}

/** Listens from before the container is made. What is lost when the engine dies is found out by asking it. */
export function followContainer(connection: EngineConnection, name: string): ContainerEvents {
  const stop = new AbortController()
  const ended = new Set<string>()
  const waiting = new Map<string, () => void>()
  let ooms = 0
  let isOver = false
  const over = (): void => {
    isOver = true
    for (const wake of waiting.values()) wake()
  }
  const take = linesOf((line) => {
    const event = readEvent(line)
    if (event?.action === 'oom') ooms++
    if (event?.action === 'die') over()
    if (event?.action !== 'exec_die' || event.execId === undefined) return
    ended.add(event.execId)
    waiting.get(event.execId)?.()
  })
  const filters = JSON.stringify({ type: ['container'], container: [name] })
  const call = onWire(connection, { method: 'GET', path: '/events', query: { filters }, signal: stop.signal })
  void streamOverUnixHttp({ ...call, timeoutMs: 60_000 }, take).then(async (stream) => {
    if (stream.kind === 'stream') await stream.ended
    over()
  })
  return {
    oomCount: () => ooms,
    endOf: (execId) =>
      isOver || ended.has(execId) ? Promise.resolve() : new Promise((settle) => waiting.set(execId, settle)),
    close: () => stop.abort(),
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

function readEvent(line: string): { readonly action: string; readonly execId: string | undefined } | null {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return null
  }
  const { Action, Actor } = value as {
    readonly Action?: unknown
    readonly Actor?: { readonly Attributes?: { readonly execID?: unknown } }
  }
  const execId = Actor?.Attributes?.execID
  return { action: String(Action), execId: typeof execId === 'string' ? execId : undefined }
}
