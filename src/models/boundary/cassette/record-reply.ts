import type { IncomingCall, Reply } from '../contract.ts'
import { type Delivery, deliveryOf } from '../deliver.ts'
import { waitUnlessAborted } from '../wait-unless-aborted.ts'

export interface KeptReply {
  readonly status: number
  /** With names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Passes an answer on while it arrives, and hands over the whole of it when it should be stored: complete, and either a
 * success or an error that a retry would not change. The agent retries the others.
 */
export async function recordReply(
  reply: Exclude<Reply, { readonly kind: 'mismatch' }>,
  incoming: IncomingCall,
  keep: (reply: KeptReply) => void,
): Promise<Reply> {
  const delivery = deliveryOf(reply, incoming)
  await waitUnlessAborted(incoming.signal, delivery.delayMs ?? 0)
  const { status } = delivery
  const headers = lowerCased(delivery.headers)
  const body =
    status < 400 || permanent.has(status) ? recorded(delivery, headers, incoming, keep) : delivery.pieces
  return { kind: 'verbatim', status, headers, body, by: 'record' }
}

/** An invalid request stays invalid. A problem with a key, a rate limit or an overload is temporary. */
const permanent = new Set([400, 404, 413, 422])

async function* recorded(
  { status, pieces, chunkDelayMs = 0 }: Delivery,
  headers: Readonly<Record<string, string>>,
  { format, signal }: IncomingCall,
  keep: (reply: KeptReply) => void,
): AsyncGenerator<Uint8Array | string> {
  const decoder = new TextDecoder()
  const reader = format.createReader(headers['content-type'] ?? '')
  let body = ''
  let ended = false
  try {
    let first = true
    for await (const piece of pieces) {
      if (!first) await waitUnlessAborted(signal, chunkDelayMs)
      first = false
      body += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
      reader.push(piece)
      yield piece
    }
    ended = true
  } finally {
    // An agent may close the connection once it has read the end of the answer.
    const reading = reader.end()
    const isWhole = status >= 400 ? ended : reading.complete && reading.error === null
    if (isWhole) keep({ status, headers, body: body + decoder.decode() })
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
