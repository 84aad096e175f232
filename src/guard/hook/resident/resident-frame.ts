import type { HookReply } from '../../../agents/hook-codec.ts'
import { hmac } from '../../../io/sha256.ts'
import type { HookInvocation } from '../answer-hook.ts'

/**
 * What goes over the socket. Both sides know the guard's key: a foreign program can neither ask nor answer, and an answer belongs
 * to exactly one question.
 */
export interface AskedFrame {
  readonly bytes: Uint8Array
  /** Of the whole question; each has an event id of its own. */
  readonly mac: string
}

const newline = 10

/** Seal, a line with everything but the payload, the payload as it came. */
export function closeQuestion({ payload, ...rest }: HookInvocation, key: Uint8Array): AskedFrame {
  const head = Buffer.from(`${JSON.stringify(rest)}\n`)
  const mac = macOf(key, 'question', head, payload)
  return { bytes: Buffer.concat([Buffer.from(`${mac}\n`), head, payload]), mac }
}

/** null when it was not sealed with our key. */
export function openQuestion(
  frame: Buffer,
  key: Uint8Array,
): { readonly request: HookInvocation; readonly mac: string } | null {
  const macEnd = frame.indexOf(newline)
  const headEnd = frame.indexOf(newline, macEnd + 1)
  if (macEnd === -1 || headEnd === -1) return null
  const head = frame.subarray(macEnd + 1, headEnd + 1)
  const payload = frame.subarray(headEnd + 1)
  const mac = frame.toString('latin1', 0, macEnd)
  if (mac !== macOf(key, 'question', head, payload)) return null
  return { request: { ...JSON.parse(head.toString('utf8')), payload }, mac }
}

export function closeAnswer(reply: HookReply, questionMac: string, key: Uint8Array): string {
  const text = JSON.stringify(reply)
  return `${macOf(key, 'answer', Buffer.from(questionMac), Buffer.from(text))}\n${text}`
}

/** null when it is no answer of ours to this question. */
export function openAnswer(text: string, questionMac: string, key: Uint8Array): HookReply | null {
  const end = text.indexOf('\n')
  const body = text.slice(end + 1)
  const mac = macOf(key, 'answer', Buffer.from(questionMac), Buffer.from(body))
  return end !== -1 && text.slice(0, end) === mac ? (JSON.parse(body) as HookReply) : null
}

function macOf(key: Uint8Array, about: string, ...parts: readonly Uint8Array[]): string {
  return Buffer.from(hmac(key, Buffer.from(`${about}\n`), ...parts)).toString('base64url')
}

/** A helper that works says so more often than this. */
const silenceMs = 500

/** The helper's answer; null when there is no helper, when it fails, or when something else answered in its place. */
export async function askResident(
  path: string,
  request: HookInvocation,
  key: Uint8Array,
): Promise<HookReply | null> {
  const { askOverSocket } = await import('../../../io/unix-socket.ts')
  const { bytes, mac } = closeQuestion(request, key)
  const text = await askOverSocket({ path, request: bytes, silenceMs })
  return text === null ? null : openAnswer(text, mac, key)
}
