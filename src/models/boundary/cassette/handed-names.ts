/**
 * Names an agent makes up in every run and hands to its model: ids of subagents, of tasks in the background, of processes. A
 * model hands them back in its calls, so an answer that was recorded with one must be given with the one of this run.
 */
const handing =
  /(?:\bagentId: |\bSendMessage with to: '|\brunning in (?:the )?background with ID: |\bsession ID |<task-id>|"agent_id":")((?=[A-Za-z_-]*\d)[0-9A-Za-z_-]{4,})/g

/** In the order in which they are handed over. */
export function namesHandedIn(text: string): readonly string[] {
  return [...text.matchAll(handing)].map(([, name = '']) => name)
}

/** Puts what stands for them in the place of names, wherever they are whole words. */
export function replaceNames(text: string, names: ReadonlyMap<string, string>): string {
  let replaced = text
  for (const [name, stands] of names) {
    if (replaced.includes(name)) replaced = replaced.replaceAll(wholeWord(name), () => stands)
  }
  return replaced
}

/** An answer as it is stored: what looked like a placeholder before becomes `{~uuid:1}`. */
export function storeNames(text: string, names: ReadonlyMap<string, string>): string {
  const escaped = text.replaceAll(marked, (_, waves: string, name: string) => `{~${waves}${name}}`)
  return replaceNames(escaped, names)
}

/** Undoes `storeNames` with the names of another run. One that this run has not handed over stays as it is. */
export function fillNames(text: string, names: ReadonlyMap<string, string>): string {
  if (!text.includes('{')) return text
  const byPlaceholder = new Map([...names].map(([name, stands]) => [stands, name]))
  return text.replaceAll(marked, (whole, waves: string, name: string) =>
    waves === '' ? (byPlaceholder.get(whole) ?? whole) : `{${waves.slice(1)}${name}}`,
  )
}

const marked = /\{(~*)((?:uuid|given):\d+)\}/g

function wholeWord(name: string): RegExp {
  return new RegExp(`(?<![0-9A-Za-z])${name.replaceAll(/[^0-9A-Za-z_]/g, '\\$&')}(?![0-9A-Za-z])`, 'g')
}
