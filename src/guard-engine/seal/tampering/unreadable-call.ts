import type { Tampering } from './attempt.ts'

/** A shell or a file tool whose input nobody can read may do anything, to the guard as well. */
export const unreadableCall: Tampering = ({ call }) => {
  if (call.action.kind !== 'unknown' || call.action.server !== null) return null
  if (shells.test(call.tool)) return `what ${call.tool} is told to run cannot be read`
  if (fileTools.test(call.tool) && !namesPath(call.input))
    return `which file ${call.tool} is told to change cannot be read`
  return null
}

const shells = /^(?:bash|shell|powershell|run_shell_command|local_shell)$/i
const fileTools = /^(?:write|edit|multiedit|notebookedit|write_file|apply_patch)$/i

function namesPath(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  return Object.entries(input).some(
    ([key, value]) =>
      /path|file|uri|name|patch|input/i.test(key) && typeof value === 'string' && value !== '',
  )
}
