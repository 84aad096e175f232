import { type JsonObject, parseObject } from '../../core/json-fields.ts'
import { streamOverUnixHttp } from '../../io/unix-http.ts'
import type { SandboxFailure, SandboxRequest } from '../contract.ts'
import { failureOf, onWire } from './call-engine.ts'
import type { EngineConnection } from './connect-engine.ts'

export type Pulled =
  | { readonly kind: 'pulled' }
  | { readonly kind: 'failed'; readonly failure: SandboxFailure }
  | { readonly kind: 'cancelled' }

/** A registry may take long to answer at all. */
const statusTimeoutMs = 300_000
const progressEveryMs = 1_000

/** An abort also ends the pull in the engine: it stops when the client disconnects. */
export async function pullImage(
  connection: EngineConnection,
  { image, signal, onProgress }: Pick<SandboxRequest, 'image' | 'signal' | 'onProgress'>,
): Promise<Pulled> {
  onProgress?.(`Pulling ${image}.`)
  let text = ''
  let toldAt = performance.now()
  const take = (chunk: Buffer): void => {
    text = (text + chunk.toString('utf8')).slice(-keptLength)
    if (performance.now() - toldAt < progressEveryMs) return
    toldAt = performance.now()
    onProgress?.(`Pulling ${image}: ${progressIn(text)}`)
  }
  const call = onWire(connection, {
    method: 'POST',
    path: '/images/create',
    query: imageReference(image),
    signal,
  })
  const stream = await streamOverUnixHttp({ ...call, timeoutMs: statusTimeoutMs }, take)
  if (stream.kind === 'stream') await stream.ended
  if (signal.aborted || stream.kind === 'aborted') return { kind: 'cancelled' }
  const refused = (message: string): Pulled => ({
    kind: 'failed',
    failure: failureOf(
      { kind: 'refused', status: 0, message },
      'image_pull',
      `the image ${image} is not on this machine and cannot be pulled`,
    ),
  })
  if (stream.kind === 'unreachable')
    return stream.code === 'TIMEOUT'
      ? refused(stream.message)
      : {
          kind: 'failed',
          failure: { type: 'docker_unavailable', message: `The engine does not answer: ${stream.message}.` },
        }
  const problem = errorIn(text) ?? (stream.status >= 400 ? text.trim() : null)
  return problem === null ? { kind: 'pulled' } : refused(problem)
}

/** The last lines are enough: an error comes last. */
const keptLength = 16_384

function linesIn(text: string): readonly JsonObject[] {
  return text
    .split('\n')
    .map(parseObject)
    .filter((line) => line !== null)
}

function errorIn(text: string): string | null {
  for (const { error, message } of linesIn(text)) {
    if (typeof error === 'string') return error
    if (typeof message === 'string') return message
  }
  return null
}

function progressIn(text: string): string {
  const { status, progress } = linesIn(text).at(-1) ?? {}
  return [status, progress].filter((part) => typeof part === 'string' && part !== '').join(' ')
}

/**
 * An image's name as the two parameters of a pull. Without a tag the engine would pull all tags. A colon before the
 * last slash belongs to the port of a registry.
 */
export function imageReference(image: string): { readonly fromImage: string; readonly tag: string } {
  const digest = image.indexOf('@')
  if (digest !== -1) return { fromImage: image.slice(0, digest), tag: image.slice(digest + 1) }
  const colon = image.lastIndexOf(':')
  if (colon > image.lastIndexOf('/')) return { fromImage: image.slice(0, colon), tag: image.slice(colon + 1) }
  return { fromImage: image, tag: 'latest' }
}
