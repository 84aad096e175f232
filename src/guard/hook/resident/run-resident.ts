import { basename, dirname, join } from 'node:path'
import type { HookReply } from '../../../agents/hook-codec.ts'
import { GantryError } from '../../../core/error.ts'
import { guardHome } from '../../../guard-engine/ledger/ledger-place.ts'
import { helperVariables } from '../../../guard-install/ask-helper.ts'
import { currentBundle } from '../../../guard-install/current-bundle.ts'
import { launcherKeeper } from '../../../guard-install/hook-launcher.ts'
import { monotonicMs } from '../../../io/clock.ts'
import { fileStamp, namesIn } from '../../../io/directory.ts'
import { removeTree } from '../../../io/files.ts'
import { acquireLock } from '../../../io/lock.ts'
import { isFile, isSocket } from '../../../io/path-kind.ts'
import { privateDirectory, writePrivateFileAtomic } from '../../../io/private-files.ts'
import { quickRandom } from '../../../io/quick-random.ts'
import { isListening, serveOnSocket } from '../../../io/unix-socket.ts'
import type { HookInvocation } from '../answer-hook.ts'
import { answerInTime, askedAgoMs, type HookProcess, startDeadline } from '../run-hook.ts'

const defaultIdleMs = 10 * 60_000

/** Runs the helper of this name. It has the environment of the hook that started it, and answers only hooks with the same environment. */
export async function runResident(name: string, { env, program, uid }: HookProcess): Promise<void> {
  const { hookBin } = program
  const place = uid === null ? null : residentPlace({ guardHome: guardHome(env), name, uid })
  if (hookBin === null || place === null) return
  const idleMs = Number(env.GANTRY_GUARD_IDLE_MS)
  const own = variablesOf(env)
  const { later, doPending } = workForLater()
  const replaced: string[] = []
  const running = { ...program, resident: { ledgers: new Map(), later, replaced } }
  const putBack = launcherKeeper(env)
  putBack()
  await serveResident({
    place,
    isCurrent: currency(hookBin, program.bundles !== undefined),
    idleMs: Number.isFinite(idleMs) && idleMs > 0 ? idleMs : defaultIdleMs,
    answered: doPending,
    look: () => replaced.push(...putBack()),
    answer: async (request) => {
      if (variablesOf(request.env) !== own) return null
      doPending()
      const deadline = startDeadline(request, askedAgoMs(request.eventId, Date.now()))
      try {
        return (await answerInTime(request, running, deadline)).reply
      } finally {
        deadline.clear()
      }
    },
  })
}

/** Work of answered events. It is done before the next event, in order. */
function workForLater() {
  const pending: (() => void)[] = []
  return {
    later: (work: () => void): void => void pending.push(work),
    doPending: (): void => {
      for (let work = pending.shift(); work !== undefined; work = pending.shift()) {
        try {
          work()
        } catch {
          // The event is in the ledger. Its views and caches are made again at the next one.
        }
      }
    },
  }
}

function variablesOf(env: Readonly<Record<string, string | undefined>>): string {
  const wanted = new RegExp(helperVariables)
  const pairs = Object.entries(env).filter(([name]) => wanted.test(name))
  return JSON.stringify(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Whether the helper still runs the installed program. In a checkout all sources are compared, but not for every question. */
function currency(hookBin: string, isCheckout: boolean): () => boolean {
  const stamp = fileStamp(hookBin)
  let checkedMs = monotonicMs()
  return () => {
    if (fileStamp(hookBin) !== stamp) return false
    if (!isCheckout || monotonicMs() - checkedMs < lookMs) return true
    checkedMs = monotonicMs()
    return currentBundle(hookBin) !== null
  }
}

interface ResidentPlace {
  /** What a launcher must know, readable only for this user. */
  readonly file: string
  readonly socket: string
}

/** The system limits a socket path to 104 or 108 bytes, including the terminator. */
const maxPathBytes = 100

/** null when no place is safe. Then there is no helper. */
function residentPlace({
  guardHome,
  name,
  uid,
}: {
  readonly guardHome: string
  readonly name: string
  readonly uid: number
}): ResidentPlace | null {
  const own = join(guardHome, 'run')
  const file = join(own, name)
  const isShort = Buffer.byteLength(`${file}.sock`) <= maxPathBytes
  const directory = isShort ? own : `/tmp/gantry-guard-${uid}`
  return [own, directory].every((path) => privateDirectory(path, uid))
    ? { file, socket: join(directory, `${name}.sock`) }
    : null
}

interface ResidentOptions {
  readonly place: ResidentPlace
  /** When it is false, the helper stops answering. */
  isCurrent(): boolean
  readonly idleMs: number
  /** null: a question for another helper. */
  answer(request: HookInvocation): Promise<HookReply | null>
  /** Called when an answer has been sent. */
  answered(): void
  /** Called once a second. */
  look(): void
}

const maxFrameBytes = 8 * 1024 * 1024
const signOfLifeMs = 150
const lookMs = 1000

/** Answers hooks until it has been idle for a while. Resolves when it ends, or at once when another helper is running. */
async function serveResident(options: ResidentOptions): Promise<void> {
  const { place, isCurrent, idleMs, answer, answered, look } = options
  const { file, socket } = place
  const lock = acquireLock(`${socket}.lock`, { label: 'guard helper' })
  if (lock === null) return
  const secrets: ResidentSecrets = { question: secret(), answer: secret() }
  let lastAskedMs = monotonicMs()
  try {
    const server = await serveOnSocket({
      path: socket,
      maxBytes: maxFrameBytes,
      signOfLifeMs,
      answered,
      answer: async (frame) => {
        const question = openQuestion(frame, secrets)
        if (question === null || !isCurrent()) return null
        lastAskedMs = monotonicMs()
        const reply = await answer(question)
        lastAskedMs = monotonicMs()
        return reply === null ? null : closeAnswer(reply, secrets)
      },
    })
    writePrivateFileAtomic(file, `${secrets.question} ${secrets.answer} ${socket}\n`)
    await tidySockets(place)
    await new Promise<void>((resolve) => {
      const timer = setInterval(
        () => {
          look()
          const isIdle = server.busy === 0 && monotonicMs() - lastAskedMs >= idleMs
          // Without its files, no hook can reach it.
          if (!isIdle && isCurrent() && isSocket(socket) && isFile(file)) return
          clearInterval(timer)
          removeTree(file)
          server.close()
          resolve()
        },
        Math.min(lookMs, idleMs),
      )
    })
  } finally {
    lock.release()
  }
}

function secret(): string {
  return Buffer.from(quickRandom(32)).toString('hex')
}

/** Known to the helper and to programs of this user that can read its file. */
interface ResidentSecrets {
  /** Starts every question. */
  readonly question: string
  /** Starts every answer. */
  readonly answer: string
}

const newline = 10
const headLines = 6

/**
 * A question as the launcher sends it: secret, event id, agent, event, length of the environment, length of the payload, one line each; then
 * the environment, its variables separated by NUL, and the payload. null when it is not whole or lacks the secret.
 */
function openQuestion(frame: Buffer, { question }: ResidentSecrets): HookInvocation | null {
  const lines: string[] = []
  let at = 0
  while (lines.length < headLines) {
    const end = frame.indexOf(newline, at)
    if (end === -1) return null
    lines.push(frame.toString('utf8', at, end))
    at = end + 1
  }
  const [secret, eventId = '', agent = '', event = '', envLength, payloadLength] = lines
  const envEnd = at + Number(envLength)
  if (secret !== question || frame.length !== envEnd + Number(payloadLength)) return null
  return {
    agent,
    event: event === '' ? null : event,
    agentVersion: null,
    env: environment(frame.toString('utf8', at, envEnd)),
    payload: frame.subarray(envEnd),
    eventId,
  }
}

function environment(text: string): Readonly<Record<string, string>> {
  const pairs = text.split('\0').map((pair) => {
    const end = pair.indexOf('=')
    return [pair.slice(0, end), pair.slice(end + 1)] as const
  })
  return Object.fromEntries(pairs)
}

/** Secret, exit code, length of stdout, length of stderr; then both. A reader sees whether it is whole. */
function closeAnswer({ stdout, stderr, exitCode }: HookReply, { answer }: ResidentSecrets): string {
  const lengths = [stdout, stderr].map((text) => Buffer.byteLength(text))
  return `${[answer, exitCode, ...lengths].join(' ')}\n${stdout}${stderr}`
}

const patienceMs = 500

/** Removes what killed helpers left beside this one. Files of running helpers stay. */
async function tidySockets({ file, socket }: ResidentPlace): Promise<void> {
  const directory = dirname(socket)
  try {
    const names = new Set(namesIn(directory).map((name) => name.replace(/\.lock$/, '')))
    for (const name of names)
      if (/^[0-9a-f]{16,20}\.sock$/.test(name) && name !== basename(socket))
        await tidySocket(join(directory, name), join(dirname(file), basename(name, '.sock')))
  } catch (error) {
    // Leftovers only take disk space.
    if (!(error instanceof GantryError)) throw error
  }
}

/** Takes the lock of the socket, so no helper can start listening during the check. */
async function tidySocket(socket: string, file: string): Promise<void> {
  const lock = acquireLock(`${socket}.lock`, { label: 'tidies up' })
  if (lock === null) return
  try {
    if (isSocket(socket) && (await isListening(socket, patienceMs))) return
    removeTree(socket)
    removeTree(file)
  } finally {
    lock.release()
  }
}
