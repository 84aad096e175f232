import { GantryError } from '../../core/error.ts'
import { randomSuffix } from '../../io/ids.ts'
import type { Terminal } from '../../io/terminal.ts'
import { type Descent, findAgentAbove } from './find-agent-above.ts'

export interface PersonCheck extends Descent {
  readonly terminal: Terminal
  readonly signal: AbortSignal
  /** What is about to happen, as a sentence. */
  readonly about: string
}

/** Who it is, for the ledger: `dev on /dev/pts/3`. Throws GantryError USAGE unless a person at a terminal says yes. */
export async function provePerson(check: PersonCheck): Promise<string> {
  const { terminal, env, signal, about } = check
  await refuseBeneathAgent(check)
  if (!terminal.isTerminal) {
    throw new GantryError('USAGE', 'this asks a person, and there is no terminal to ask at', {
      hint: 'Run it yourself in a terminal, without pipes or redirections.',
    })
  }
  const code = randomSuffix(6)
  terminal.write(`${about}\nType ${code} to go on, anything else to leave it: `)
  const answer = await terminal.readLine(signal)
  if (answer?.trim().toLowerCase() !== code) {
    throw new GantryError('USAGE', 'the code was not typed, so nothing was changed')
  }
  const name = env.SUDO_USER || env.USER || env.LOGNAME || 'somebody'
  return terminal.name === null ? name : `${name} on ${terminal.name}`
}

/** For whatever only a person may do, also without a question. */
export async function refuseBeneathAgent(descent: Descent): Promise<void> {
  const agent = await findAgentAbove(descent)
  if (agent === null) return
  throw new GantryError('USAGE', `this is for a person, and an agent seems to be running it: ${agent}`, {
    hint: 'Run it in a terminal of your own that no agent has started. A variable you have set yourself can be left out with env -u NAME.',
  })
}
