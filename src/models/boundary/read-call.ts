import type { LoopbackRequest } from '../../io/loopback-server.ts'
import { unpackBody } from '../../io/unpack-body.ts'
import type { ModelCall, WireFailure } from './contract.ts'
import type { WireFormat, WireRoute } from './wire/contract.ts'

export type ReadCall =
  | { readonly kind: 'call'; readonly call: ModelCall; readonly body: Uint8Array }
  | { readonly kind: 'bad'; readonly failure: WireFailure }
  /** The client went away before its request was whole. */
  | { readonly kind: 'gone' }

const maxUnpackedBytes = 256 * 1024 * 1024

/** Takes in the body of a request, unpacks it and understands it. */
export async function readCall(
  format: WireFormat,
  route: WireRoute,
  request: LoopbackRequest,
): Promise<ReadCall> {
  const body = await request.readBody().catch(() => 'gone' as const)
  if (body === 'gone') return { kind: 'gone' }
  if (body === null) return bad(413, 'The request is too large.')
  const unpacked = await unpackBody(body, request.headers['content-encoding'] ?? '', maxUnpackedBytes)
  if (unpacked === null) return bad(415, 'The body of the request cannot be unpacked.')
  const parsed = unpacked.length === 0 && request.method === 'GET' ? { value: null } : parse(unpacked)
  if (parsed === null) return bad(400, 'The body of the request is not JSON.')
  return { kind: 'call', call: format.readCall(parsed.value, route), body: unpacked }
}

function parse(body: Uint8Array): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(new TextDecoder().decode(body)) }
  } catch {
    return null
  }
}

function bad(status: number, message: string): ReadCall {
  return { kind: 'bad', failure: { status, message } }
}
