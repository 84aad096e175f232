import type { HookReply } from '../../../agents/hook-codec.ts'
import type { HookRequest } from '../hook-request.ts'
import { closeQuestion, openAnswer } from './resident-frame.ts'

/** A helper that works says so more often than this. */
const silenceMs = 500

/** The helper's answer; null when there is no helper, when it fails, or when something else answered in its place. */
export async function askResident(
  path: string,
  request: HookRequest,
  key: Uint8Array,
): Promise<HookReply | null> {
  const { askOverSocket } = await import('../../../io/unix-socket.ts')
  const { bytes, mac } = closeQuestion(request, key)
  const text = await askOverSocket({ path, request: bytes, silenceMs })
  return text === null ? null : openAnswer(text, mac, key)
}
