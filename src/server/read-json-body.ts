import { type Problem, problem } from './answer.ts'

/** A description of the longest allowed text, with every character escaped, has room. */
export const maxBodyBytes = 128 * 1024

export type ReadBody = { readonly kind: 'body'; readonly value: unknown } | Problem

/** The JSON of a request; undefined when it has no body. Never holds more than the limit. */
export async function readJsonBody(request: Request): Promise<ReadBody> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const bytes = declared > maxBodyBytes ? 'too_large' : await bytesOf(request)
  if (bytes === 'cut_off') return problem(400, 'cut_off', 'the body ended before its end')
  if (bytes === 'too_large')
    return {
      ...problem(
        413,
        'too_large',
        `a request has at most ${maxBodyBytes.toLocaleString('en-US')} bytes`,
        'A task has at most 10,000 characters.',
      ),
      headers: { connection: 'close' },
    }
  if (bytes.length === 0) return { kind: 'body', value: undefined }
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type) || isEncoded(request))
    return problem(
      415,
      'no_json',
      'only plain application/json bodies are taken',
      'Send the header Content-Type: application/json.',
    )
  try {
    return { kind: 'body', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return problem(400, 'bad_json', 'the body is no valid JSON', null)
  }
}

function isEncoded(request: Request): boolean {
  return (request.headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity'
}

async function bytesOf({ body }: Request): Promise<Uint8Array | 'too_large' | 'cut_off'> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (body === null) return new Uint8Array()
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBodyBytes) return 'too_large'
      chunks.push(chunk)
    }
  } catch {
    // The client went away, or its pieces make no sense.
    return 'cut_off'
  }
  return Buffer.concat(chunks)
}
