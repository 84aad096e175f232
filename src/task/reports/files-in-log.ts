import { logPlaces } from '../log-places.ts'

const maxFiles = 20

/** Someone else's code, or the machine's. */
const foreign = /(^|\/)(node_modules|site-packages|dist-packages)\/|^\/|^(usr|lib)\//

/** Files of the repository that a log points to, in the order of their first mention. */
export function filesInLog(log: string): readonly string[] {
  const files = logPlaces(log)
    .map(({ path }) => path)
    .filter((path) => !foreign.test(path))
  return [...new Set(files)].slice(0, maxFiles)
}
