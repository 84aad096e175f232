import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openOutboundProxy } from './outbound-proxy.ts'

test.for([
  [
    'this machine',
    'CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: x\r\n\r\n',
    '127.0.0.1 has no address, or is this',
  ],
  ['this machine by a mapped address', 'CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['this machine in a whole address', 'GET http://localhost/ HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a port that cannot exist', 'CONNECT 192.0.2.1:99999 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['no address', 'CONNECT nowhere HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a path', 'GET /x HTTP/1.1\r\nhost: x\r\n\r\n'],
] as const)('%s is refused, and the proxy goes on', async ([, asked, why = '']) => {
  const directory = mkdtempSync(join(tmpdir(), 'gantry-proxy-'))
  const proxy = await openOutboundProxy(directory, 'proxy')
  onTestFinished(() => {
    proxy.close()
    rmSync(directory, { recursive: true })
  })
  for (let tries = 0; tries < 2; tries++) {
    const client = connect(join(directory, 'proxy'))
    client.write(asked)
    const answer = String((await once(client, 'data'))[0])
    expect(answer).toMatch(/^HTTP\/1\.1 502 /)
    expect(answer).toContain(why)
    client.destroy()
  }
})
