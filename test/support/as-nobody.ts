import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const checkout = join(import.meta.dirname, '../..')

/** How a command line of root begins so that the rest runs as another user, for whom a checkout in the home of root is opened. */
export function asNobody(): readonly string[] {
  const drop = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
  const closed = [...parentsOf(checkout), ...parentsOf(process.execPath)].find((path) => isClosed(path))
  if (closed === undefined) return drop
  const shown = [checkout, dirname(process.execPath)]
  return ['unshare', '--mount', 'sh', '-c', openUp, closed, ...shown, ...drop]
}

/** In a mount namespace of its own, an open directory takes the place of the closed one and has only what is needed. */
const openUp = `
set -e
for path in "$1" "$2"; do
  kept=$(mktemp -d) && mount --bind "$path" "$kept" && list="$list $kept"
done
mount -t tmpfs -o mode=755 none "$0"
for kept in $list; do
  mkdir -p "$1" && mount --bind "$kept" "$1" && umount "$kept" && rmdir "$kept" && shift
done
exec "$@"`

/** From the root down. */
function parentsOf(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...parentsOf(parent), parent]
}

function isClosed(path: string): boolean {
  return (statSync(path).mode & 0o001) === 0
}
