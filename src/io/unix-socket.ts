import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { errnoOf } from './fs-error.ts'

export interface UnixSocketServer {
  /** Connections that are being answered. */
  readonly busy: number
  close(): void
}

export interface SocketService {
  readonly path: string
  readonly maxBytes: number
  /** Interval of keep-alive bytes while an answer is computed. */
  readonly signOfLifeMs: number
  /** null: no answer, the connection is closed. */
  answer(request: Buffer): Promise<string | null>
  /** Called when an answer has been sent, or its reader is gone. */
  answered(): void
}

/** Answers requests on a Unix socket that only this user can open. Replaces an existing file at its path. */
export function serveOnSocket(service: SocketService): Promise<UnixSocketServer> {
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    const signs = setInterval(() => socket.write('\n'), service.signOfLifeMs)
    socket.on('close', () => {
      clearInterval(signs)
      open.delete(socket)
      service.answered()
    })
    // Ignore a client that disconnects.
    socket.on('error', () => socket.destroy())
    const chunks: Buffer[] = []
    let total = 0
    socket.on('data', (chunk) => {
      total += chunk.length
      if (total > service.maxBytes) socket.destroy()
      else chunks.push(chunk)
    })
    socket.on('end', () => {
      service.answer(Buffer.concat(chunks)).then(
        (text) => {
          clearInterval(signs)
          if (text === null) socket.destroy()
          else socket.end(text)
        },
        () => socket.destroy(),
      )
    })
  })
  rmSync(service.path, { force: true })
  const before = process.umask(0o177)
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(service.path, () => {
      process.umask(before)
      resolve({
        get busy() {
          return open.size
        },
        close: () => {
          server.close()
          rmSync(service.path, { force: true })
        },
      })
    })
  })
}

/** false when no process listens: the socket is gone or was left by a dead process. */
export function isListening(path: string, patienceMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const give = (answer: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => give(true), patienceMs)
    socket.on('connect', () => give(true))
    socket.on('error', (cause) => give(!gone.includes(errnoOf(cause) ?? '')))
  })
}

const gone = ['ECONNREFUSED', 'ENOENT']
