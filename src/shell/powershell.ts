import type { CallTargets } from './interpret.ts'

/** PowerShell is only scanned, not interpreted: a command that writes anything cannot be judged. */
export function scanPowerShell(command: string): CallTargets {
  const runs = command
    .slice(0, maxText)
    .split(/[\n;|&{}()]+/)
    .map((part) => part.trim().split(/\s+/))
    .filter(([first]) => first !== undefined && first !== '')
  const writes = writing.test(command.replaceAll(streams, ''))
  return {
    writes: [],
    runs,
    opaque: writes ? [{ text: command, why: 'the PowerShell command writes files' }] : [],
  }
}

const maxText = 65_536

/** Errors and warnings redirected to null or to the output. */
const streams = /[\d*]?>{1,2}\s*(?:\$null|&\d)/gi

/** Cmdlets, their aliases, .NET calls and other programs that write, and redirections. */
const writing =
  />|\b(?:Set|Add|Clear|Out|New|Remove|Move|Copy|Rename|Export|Tee|Expand|Compress|Invoke|Start|Import)-\w+|\b(?:sc|ac|clc|ni|ri|rm|rmdir|del|erase|rd|mi|mv|move|cpi|cp|copy|rni|ren|tee|epcsv|iex|iwr|curl|wget|md|mkdir|attrib|icacls|cmd|bash|sh|python\d?|node|perl)\b|::(?:Write|Append|Create|Delete|Move|Copy|Replace|OpenWrite|SetAttributes|Open)\w*|\.(?:Write|Delete|MoveTo|CopyTo|Save)\w*\(/i
