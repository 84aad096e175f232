import type { LoopbackReply } from '../../io/loopback-server.ts'
import type { WireFailure } from './contract.ts'
import type { WireFormat } from './wire/contract.ts'

/** In the words of the format; as plain JSON where there is none. */
export async function sendFailure(
  format: WireFormat | null,
  failure: WireFailure,
  reply: LoopbackReply,
): Promise<void> {
  const { status, headers, chunks } = format?.encodeFailure(failure) ?? plain(failure)
  reply.begin(status, headers)
  for (const chunk of chunks) await reply.write(chunk)
  await reply.end()
}

function plain({ status, message }: WireFailure): ReturnType<WireFormat['encodeFailure']> {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify({ error: { message } })],
  }
}
