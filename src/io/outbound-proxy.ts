import { lookup } from 'node:dns/promises'
import { chmodSync, closeSync, openSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, connect, createServer, isIP, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'

/** An HTTP proxy on a Unix socket with this name. It connects to other machines only, never to this one. */
export async function openOutboundProxy(directory: string, name: string) {
  const { createServer: createHttpServer, request } = process.getBuiltinModule('node:http')
  const open = new Set<Socket>()
  const server = createHttpServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const refuse = (why: string): void =>
      void (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end(`${why}\n`))
    settled(refuse, async () => {
      const url = URL.parse(incoming.url ?? '')
      if (url === null || url.protocol !== 'http:') return refuse('this proxy needs a complete http: address')
      const host = await otherMachine(bare(url.hostname))
      if (host === null) return refuse(`${url.hostname} has no address, or is this machine`)
      const { 'proxy-connection': _, ...headers } = incoming.headers
      const onward = request(
        { host, port: url.port || 80, path: url.pathname + url.search, method: incoming.method, headers },
        (answer) =>
          settled(refuse, async () => {
            outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
            answer.pipe(outgoing)
          }),
      )
      onward.on('error', (cause) => refuse(cause.message))
      outgoing.on('close', () => onward.destroy())
      incoming.pipe(onward)
    })
  })
  server.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    client.on('error', () => client.destroy())
    let refuse = (why: string): void => void client.end(`HTTP/1.1 502 ${why}\r\n\r\n`)
    settled(
      (why) => refuse(why),
      async () => {
        const [, named = '', port = ''] = /^(.*):(\d+)$/.exec(incoming.url ?? '') ?? []
        const host = await otherMachine(bare(named))
        if (host === null || client.destroyed) return refuse(`${named} has no address, or is this machine`)
        const onward = connect(Number(port), host, () => {
          refuse = () => client.destroy()
          client.write('HTTP/1.1 200 connected\r\n\r\n')
          onward.write(head)
          onward.pipe(client)
          client.pipe(onward)
        })
        open.add(onward)
        onward.on('close', () => open.delete(onward))
        onward.on('error', ({ message }) => refuse(message))
        client.on('close', () => onward.destroy())
      },
    )
  })
  return listen(server, directory, name, open)
}

/** A Unix socket with this name, which leads to a port on the loopback of this machine. */
export async function openRelay(directory: string, name: string, port: number) {
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const onward = connect(port, '127.0.0.1')
    open.add(onward)
    pipeline(client, onward, client, () => open.delete(onward))
  })
  return listen(server, directory, name, open)
}

/** Listens on a Unix socket that everyone who can reach the directory may use. Closing also closes these connections. */
async function listen(server: Server, directory: string, name: string, open: Set<Socket>) {
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  // The path of a socket may have 107 characters at most; this one is always short.
  const at = openSync(directory, 'r')
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    server.listen(`/proc/self/fd/${at}/${name}`, done)
  }).finally(() => closeSync(at))
  chmodSync(join(directory, name), 0o666)
  server.unref()
  return {
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

/** What a step or another machine sends may be refused by Node with an exception, such as a port that cannot exist. */
function settled(refuse: (why: string) => void, work: () => Promise<void>): void {
  work().catch((cause: unknown) => refuse(String(cause)))
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/** An address of the host that is not one of this machine; null when there is none. */
async function otherMachine(host: string): Promise<string | null> {
  const here = new BlockList()
  here.addSubnet('127.0.0.0', 8, 'ipv4')
  here.addSubnet('0.0.0.0', 8, 'ipv4')
  here.addSubnet('169.254.0.0', 16, 'ipv4')
  here.addAddress('::1', 'ipv6')
  here.addAddress('::', 'ipv6')
  here.addSubnet('fe80::', 10, 'ipv6')
  for (const own of Object.values(networkInterfaces()).flat())
    if (own !== undefined) here.addAddress(own.address, own.family === 'IPv6' ? 'ipv6' : 'ipv4')
  const found = host === '' ? [] : await lookup(host, { all: true }).catch(() => [])
  // One of this machine among several may be a trick to reach it at the second try.
  const isHere = found.some(({ address }) => here.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4'))
  return isHere ? null : (found[0]?.address ?? null)
}
