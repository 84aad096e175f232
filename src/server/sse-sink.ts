import type { ServerResponse } from 'node:http'
import { securityHeaders } from './answer.ts'
import type { FeedSink } from './feed/contract.ts'

const streamHeaders = {
  ...securityHeaders,
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
  connection: 'close',
}

/** How long a client may take to read the rest of a stream that is over. */
const lingerMs = 10_000

/**
 * A response as a stream of events. It ends with its connection and has no chunks: all clients then get the same bytes, and the
 * socket takes them as they are. null when the connection is not ours to write to.
 */
export function openSseSink(
  outgoing: ServerResponse,
  on: { readonly drain: () => void; readonly close: () => void },
): FeedSink | null {
  const { socket } = outgoing
  // An earlier request on the same connection is not answered yet: no client that follows a stream does this.
  if (socket === null || socket.destroyed) {
    outgoing.destroy()
    outgoing.req.socket.destroy()
    return null
  }
  outgoing.useChunkedEncodingByDefault = false
  outgoing.writeHead(200, streamHeaders)
  outgoing.flushHeaders()
  socket.setNoDelay(true)
  socket.on('drain', on.drain)
  outgoing.once('close', on.close)
  return {
    write(bytes) {
      if (socket.destroyed) return true
      socket.write(bytes)
      return socket.writableLength === 0
    },
    get pendingBytes() {
      return socket.writableLength
    },
    end() {
      socket.setTimeout(lingerMs)
      outgoing.end()
    },
    destroy: () => socket.destroy(),
  }
}
