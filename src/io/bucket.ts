import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { systemClock } from './clock.ts'
import { writeFileAtomic } from './files.ts'
import { allowing, translated } from './fs-error.ts'
import { httpFetch } from './http-fetch.ts'
import { isDirectory } from './path-kind.ts'
import { hmac, sha256 } from './sha256.ts'

/** Bytes by name, for several machines: in a directory that all of them see, or in a bucket that is compatible with S3. */
export interface Bucket {
  put(key: string, bytes: Uint8Array): Promise<void>
  /** null when there is none. */
  get(key: string): Promise<Uint8Array | null>
}

/** A path, relative to `cwd`, or `s3://bucket/prefix`. */
export function openBucket(
  address: string,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Bucket {
  if (address.startsWith('s3:')) return openS3(address, env)
  const root = resolve(cwd, address)
  if (!isDirectory(root))
    throw new GantryError('USAGE', `${root} is not a directory`, {
      hint: 'Name a directory that all machines share, or s3://bucket/prefix.',
    })
  const pathOf = (key: string): string => join(root, key.slice(0, 2), key)
  return {
    put: async (key, bytes) => writeFileAtomic(pathOf(key), bytes),
    get: async (key) =>
      translated(`read ${pathOf(key)}`, () => allowing(['ENOENT'], () => readFileSync(pathOf(key))) ?? null),
  }
}

const timeoutMs = 60_000

/**
 * `s3://bucket/prefix`, with the usual variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, and
 * AWS_ENDPOINT_URL for servers other than those of AWS. Throws GantryError USAGE when a variable is missing.
 */
function openS3(address: string, env: Readonly<Record<string, string | undefined>>): Bucket {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(address) ?? []
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = env
  if (bucket === undefined || id === undefined || secret === undefined)
    throw new GantryError('USAGE', `the bucket ${address} cannot be used without a name and a key`, {
      hint: 'Write s3://bucket/prefix, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    })
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1'
  const endpoint = env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL ?? `https://s3.${region}.amazonaws.com`
  const call = async (method: 'GET' | 'PUT', key: string, body?: Uint8Array) => {
    const path = [bucket, ...prefix.split('/'), key].filter((part) => part !== '').map(encodeURIComponent)
    const url = new URL(`${endpoint.replace(/\/$/, '')}/${path.join('/')}`)
    const headers = {
      host: url.host,
      'x-amz-content-sha256': sha256(body ?? ''),
      'x-amz-date': systemClock
        .now()
        .toISOString()
        .replaceAll(/[-:]|\.\d+/g, ''),
      ...(token !== undefined && { 'x-amz-security-token': token }),
    }
    const { host: _, ...sent } = headers
    const authorization = sign({ method, path: url.pathname, headers, id, secret, region })
    const answer = await httpFetch({
      method,
      url: url.href,
      headers: { ...sent, authorization },
      ...(body !== undefined && { body }),
      firstByteTimeoutMs: timeoutMs,
      signal: new AbortController().signal,
    })
    if (answer.kind === 'unreachable')
      throw new GantryError('QUEUE_UNAVAILABLE', answer.message, {
        hint: 'Check AWS_ENDPOINT_URL and AWS_REGION, and that the server runs.',
      })
    const parts: Uint8Array[] = []
    for await (const part of answer.body) parts.push(part)
    if (answer.status === 404 && method === 'GET') return null
    if (answer.status === 200) return Buffer.concat(parts)
    throw new GantryError('QUEUE_UNAVAILABLE', `the bucket ${bucket} refused: HTTP ${answer.status}`, {
      hint: 'Check the key, its rights, the region, and the clock of this machine.',
      cause: { code: `42${answer.status}` },
    })
  }
  return {
    put: async (key, bytes) => void (await call('PUT', key, bytes)),
    get: (key) => call('GET', key),
  }
}

/** The header of AWS Signature Version 4. */
function sign(request: {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>> & { readonly 'x-amz-date': string }
  readonly id: string
  readonly secret: string
  readonly region: string
}): string {
  const { method, path, headers, id, secret, region } = request
  const time = headers['x-amz-date']
  const names = Object.keys(headers).sort()
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('')
  const signed = names.join(';')
  const canonical = [method, path, '', lines, signed, headers['x-amz-content-sha256']].join('\n')
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request']
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n')
  const mac = (key: Uint8Array, part: string): Uint8Array => hmac(key, Buffer.from(part))
  const key = scope.reduce(mac, Buffer.from(`AWS4${secret}`) as Uint8Array)
  const signature = Buffer.from(mac(key, text)).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=${id}/${scope.join('/')}, SignedHeaders=${signed}, Signature=${signature}`
}
