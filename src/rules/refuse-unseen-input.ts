import { basename } from 'node:path'
import { callTargets } from '../guard-engine/targets.ts'
import type { Rule } from './contract.ts'

const interactive =
  /^(?:sh|bash|dash|zsh|ksh|ash|fish|(?:i?python|pypy)[\d.]*|node|deno|bun|ruby|irb|perl|php|lua)$/

/**
 * Denies a shell or interpreter started without anything to run, if the agent could write to it later: no hook would see that input. With a
 * script, a command or input, it is judged by that.
 */
export const refuseUnseenInput: Rule = {
  name: 'refuse-unseen-input',
  on: ['tool_before'],
  judge: ({ event, traits, world, settings }) => {
    if (event.kind !== 'tool_before' || event.call.action.kind !== 'shell') return null
    if (!settings.fileProtection.enabled || traits.typesUnseen !== true) return null
    if (/[|<]/.test(event.call.action.command)) return null
    const opened = callTargets(event.call, event.cwd, world).runs.find(waitsForInput)
    return opened === undefined
      ? null
      : {
          deny: `\`${opened.join(' ')}\` waits for input that no hook would see. Give it its commands at once: as arguments, as a script, or in a here-document.`,
        }
  },
}

function waitsForInput([program, ...args]: readonly (string | null)[]): boolean {
  if (program == null || !interactive.test(basename(program))) return false
  return args.every(
    (arg) => arg !== null && /^(?:-|-[il]+|-q|--login|--interactive|--norc|--noprofile|repl)$/.test(arg),
  )
}
