import { request } from 'node:http'

export type SocketAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  | { readonly kind: 'unreachable'; readonly code: string; readonly message: string }

/** One small GET over a Unix socket. */
export function getOverSocket(socketPath: string, path: string, timeoutMs: number): Promise<SocketAnswer> {
  return new Promise((settle) => {
    const fail = (cause: Error): void =>
      settle({
        kind: 'unreachable',
        code: 'code' in cause ? String(cause.code) : '',
        message: cause.message,
      })
    const asked = request({ socketPath, path, timeout: timeoutMs }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', fail)
      answer.on('end', () =>
        settle({
          kind: 'answer',
          status: answer.statusCode ?? 0,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    asked.on('error', fail)
    asked.end()
  })
}
