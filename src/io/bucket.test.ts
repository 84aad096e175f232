import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openBucket } from './bucket.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const sha = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const mac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()

/** What the server of a bucket computes from a request that it gets. */
function expectedSignature({ method, url, headers }: IncomingMessage, body: Buffer, secret: string): string {
  const date = String(headers['x-amz-date'])
  const [, region = '', signed = ''] =
    /Credential=key\/\d{8}\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+)/.exec(
      headers.authorization ?? '',
    ) ?? []
  const lines = signed.split(';').map((name) => `${name}:${headers[name]}\n`)
  const canonical = `${method}\n${url}\n\n${lines.join('')}\n${signed}\n${sha(body)}`
  const scope = `${date.slice(0, 8)}/${region}/s3/aws4_request`
  const day = mac(mac(mac(mac(`AWS4${secret}`, date.slice(0, 8)), region), 's3'), 'aws4_request')
  return mac(day, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${sha(canonical)}`).toString('hex')
}

async function fakeS3() {
  const objects = new Map<string, Buffer>()
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const [body, url] = [Buffer.concat(parts), request.url ?? '']
    const isSigned = request.headers.authorization?.endsWith(`=${expectedSignature(request, body, 'secret')}`)
    const isWhole = request.headers['x-amz-content-sha256'] === sha(body)
    if (isSigned && request.method === 'PUT') objects.set(url, body)
    const found = objects.get(url)
    response.statusCode = !isSigned || !isWhole ? 403 : found === undefined ? 404 : 200
    response.end(response.statusCode === 200 && request.method === 'GET' ? found : '')
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    objects,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => void (await new Promise((closed) => server.close(closed))),
  }
}

test('a bucket of S3 takes and gives bytes by signed requests, under a prefix', async () => {
  await using server = await fakeS3()
  const env = {
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
    AWS_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL: server.endpoint,
  }
  const bucket = openBucket('s3://runs/a team/', { cwd: '.', env })
  await bucket.put('abc', Buffer.from([0, 1, 255]))
  expect([...server.objects.keys()]).toEqual(['/runs/a%20team/abc'])
  expect(await bucket.get('abc')).toEqual(Buffer.from([0, 1, 255]))
  expect(await bucket.get('other')).toBeNull()
  const wrong = openBucket('s3://runs', { cwd: '.', env: { ...env, AWS_SECRET_ACCESS_KEY: 'x' } })
  await expect(wrong.put('abc', Buffer.from('x'))).rejects.toMatchObject({
    code: 'QUEUE_UNAVAILABLE',
    message: 'the bucket runs refused: HTTP 403',
  })
  const gone = openBucket('s3://runs', { cwd: '.', env: { ...env, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' } })
  await expect(gone.get('abc')).rejects.toThrow('127.0.0.1:1 cannot be reached')
})

test('a bucket without a key and a directory that is missing are refused', () => {
  expect(() => openBucket('s3://runs', { cwd: '.', env: {} })).toThrow('without a name and a key')
  expect(() => openBucket('no-such-place', { cwd: '/', env: {} })).toThrow(
    '/no-such-place is not a directory',
  )
})

test('a directory keeps bytes by name', async () => {
  using lab = temporaryDirectory('gantry-bucket-')
  const bucket = openBucket('.', { cwd: lab.path, env: {} })
  await bucket.put('abcdef', Buffer.from('x'))
  expect(await openBucket(join(lab.path), { cwd: '/', env: {} }).get('abcdef')).toEqual(Buffer.from('x'))
  expect(await bucket.get('abcd00')).toBeNull()
})
