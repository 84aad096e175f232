import type { JsonObject } from '../../core/json-fields.ts'
import type { HookReply } from '../hook-codec.ts'

/** No opinion, on every agent. */
export const silent: HookReply = { stdout: '', stderr: '', exitCode: 0 }

/** One JSON object and nothing else; nothing at all when there is nothing to say. */
export function answering(output: JsonObject): HookReply {
  const given = Object.entries(output).filter(([, value]) => value !== null && value !== undefined)
  return given.length === 0 ? silent : { ...silent, stdout: JSON.stringify(Object.fromEntries(given)) }
}

/**
 * Exit code 2 with the reason on stderr. Where the agent reads stdout as well, the same in its JSON: whichever of the two gets
 * lost, the other one blocks.
 */
export function blocking(reason: string, output: JsonObject = {}): HookReply {
  return { ...answering(output), stderr: reason, exitCode: 2 }
}
