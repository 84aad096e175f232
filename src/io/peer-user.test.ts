import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { peerUser } from './peer-user.ts'

test.runIf(process.platform === 'linux')('the kernel knows whose connection it is', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connect(port, '127.0.0.1')
  onTestFinished(() => void client.destroy())
  await once(client, 'connect')
  expect(peerUser(client.localPort ?? 0, port)).toBe(process.getuid?.())
  expect(peerUser(port, client.localPort ?? 0)).toBe(process.getuid?.())
  expect(peerUser(1, port)).toBe(null)
})
