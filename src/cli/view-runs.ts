import { once } from 'node:events'
import { loadProject } from '../config/load.ts'
import { GantryError } from '../core/error.ts'
import { asObject } from '../core/json-fields.ts'
import { createRedaction } from '../core/redaction.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { findProgram } from '../io/find-program.ts'
import { digestSecret, newSecret, sameSecret } from '../io/secret.ts'
import { startDetached } from '../io/start-detached.ts'
import { accessLog } from '../server/access-log.ts'
import { type GantryServer, openServer } from '../server/open-server.ts'
import { pageDirectory } from '../server/page-files.ts'
import { sessionProof } from '../server/page-session.ts'
import { serveToken } from '../server/serve-token.ts'
import { findRun } from '../store/find-run.ts'
import type { CliContext } from './context.ts'
import { watchedQueue } from './queue.ts'
import { withTaskQueue } from './task/task-queue.ts'

export interface ViewFlags {
  readonly port: number
  readonly open: boolean
  readonly export?: string
  readonly queue?: string
  readonly json?: boolean
}

const host = '127.0.0.1'

/** `gantry view`: the page on loopback. Returns when it is stopped, or at once when another one serves this port already. */
export function viewRuns(wanted: readonly string[], flags: ViewFlags, context: CliContext): Promise<void> {
  return withTaskQueue(context, async (queue, store) => {
    const runs = wanted.map((name) => findRun(store, name))
    const route = routeOf(runs)
    const { env, cwd, signal, stderr } = context
    const { token } = serveToken({ env, cwd, root: store.root })
    const { root: project } = loadProject(cwd)
    const watched = watchedQueue(flags, context)
    let server: GantryServer
    try {
      server = await openServer({
        host,
        port: flags.port,
        token,
        allowHosts: [],
        repositories: null,
        queue,
        store,
        submitter: null,
        project,
        guardHome: guardHome(env),
        queueStatus: watched?.queueStatus,
        log: accessLog({
          format: 'none',
          write: stderr.write,
          redaction: createRedaction([], env, { GANTRY_SERVE_TOKEN: token }),
          now: store.clock.now,
        }),
      })
    } catch (error) {
      if (!(error instanceof GantryError) || error.code !== 'LOCKED') throw error
      const url = `http://${host}:${flags.port}`
      const code = (await isOurs(url, flags.port, token)) ? await codeOf(url, token) : null
      if (code === null)
        throw new GantryError(
          'LOCKED',
          `port ${flags.port} on ${host} is taken by another program, or by the page of another store`,
          { hint: 'Choose another port with --port, or any free one with --port 0.', cause: error },
        )
      return show(url, code, route, flags, context)
    }
    if (pageDirectory() === null) {
      await server.close()
      throw new GantryError('NOT_FOUND', 'the page is not built', {
        hint: 'In a checkout run: npm run build:view',
      })
    }
    show(server.url, server.newCode().code, route, flags, context)
    if (flags.json !== true) context.stdout.write('Press Ctrl-C to stop.\n')
    if (!signal.aborted) await once(signal, 'abort')
    await server.close()
    await watched?.close()
  })
}

/** One run opens its page, several their comparison. */
function routeOf([first, ...others]: readonly string[]): string {
  if (first === undefined) return '/'
  return others.length === 0 ? `/runs/${first}` : `/compare?sides=${[first, ...others].join(',')}`
}

/** Whether a server with our token listens there. Another program would get the token with the first request. */
async function isOurs(url: string, port: number, token: string): Promise<boolean> {
  const nonce = newSecret()
  const { proof } = await answerOf(`${url}/v1/session/proof?nonce=${nonce}`)
  const expected = digestSecret(sessionProof(token, port, nonce))
  return typeof proof === 'string' && sameSecret(digestSecret(proof), expected)
}

/** From a page of the same store that is served already; null when there is none. */
async function codeOf(url: string, token: string): Promise<string | null> {
  const { code } = await answerOf(`${url}/v1/session/codes`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  return typeof code === 'string' ? code : null
}

/** Empty when there is no good answer. */
async function answerOf(url: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    })
    return response.ok ? (asObject(await response.json()) ?? {}) : {}
  } catch {
    return {}
  }
}

function show(url: string, code: string, route: string, flags: ViewFlags, context: CliContext): void {
  const address = `${url}/#code=${code}&to=${route}`
  const isOpened = flags.open && openBrowser(address, context)
  context.stdout.write(
    flags.json === true
      ? `${JSON.stringify({ url, address })}\n`
      : `${isOpened ? 'Opened' : 'Open'} ${address}\nThe code in it works once, for a minute. Later "gantry view" makes a new one.\n`,
  )
}

/** Only where a person sees it. */
function openBrowser(address: string, { env, stdout }: CliContext): boolean {
  const hasScreen = process.platform !== 'linux' || [env.DISPLAY, env.WAYLAND_DISPLAY].some((name) => name)
  if (!stdout.isTTY || !hasScreen) return false
  const [name, ...words] = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }[
    process.platform as string
  ] ?? ['xdg-open']
  const program = findProgram(name ?? 'xdg-open', env.PATH ?? '')
  if (program === null) return false
  startDetached(program, [...words, address], env)
  return true
}
