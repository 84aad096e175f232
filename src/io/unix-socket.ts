import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { errnoOf } from './fs-error.ts'

export interface SocketServer {
  /** Connections that are being answered. */
  readonly busy: number
  close(): void
}

export interface SocketService {
  readonly path: string
  readonly maxBytes: number
  /** Told on the line every so often while an answer is made, so that the other side knows that it is being made. */
  readonly signOfLifeMs: number
  /** null: no answer, the connection is closed. */
  answer(request: Buffer): Promise<string | null>
}

/** Answers whole requests on a Unix socket that only this user can open. What stood at its path is replaced. */
export function serveOnSocket(service: SocketService): Promise<SocketServer> {
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    const signs = setInterval(() => socket.write('\n'), service.signOfLifeMs)
    socket.on('close', () => {
      clearInterval(signs)
      open.delete(socket)
    })
    // Whoever goes away in the middle has found another way.
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

export interface SocketQuestion {
  readonly path: string
  readonly request: Uint8Array
  /** How long the other side may be silent. */
  readonly silenceMs: number
}

/** The answer without its signs of life; null when there is none, for whatever reason. */
export function askOverSocket({ path, request, silenceMs }: SocketQuestion): Promise<string | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ path, allowHalfOpen: true })
    const give = (answer: string | null): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => give(null), silenceMs)
    socket.on('data', (chunk) => {
      timer.refresh()
      chunks.push(chunk)
    })
    socket.on('end', () => give(Buffer.concat(chunks).toString('utf8').trim() || null))
    socket.on('error', () => give(null))
    socket.end(request)
  })
}

/** false when no process listens any more: the socket is gone, or left behind by a dead process. */
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
