// SessionStart: one line of context, so that nobody has to ask which release was the last one.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const { cwd } = JSON.parse(readFileSync(0, 'utf8'))
const tag = newestVersionTag(cwd)
if (tag !== null) console.log(`The last release is ${tag}.`)

function newestVersionTag(directory) {
  try {
    const tags = execFileSync('git', ['tag', '--sort=-v:refname', '--list', 'v[0-9]*'], {
      cwd: directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return tags.split('\n')[0] || null
  } catch {
    // Not a repository, or no git: there is nothing to tell.
    return null
  }
}
