import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { call, Failure } from './api/client.ts'
import { router } from './routes.tsx'
import './style.css'
import { SignIn } from './views/sign-in.tsx'

/** Whether the server knows this browser. */
let isSignedOut = false
const listeners = new Set<() => void>()

function signOut(is: boolean): void {
  isSignedOut = is
  for (const listener of listeners) listener()
}

const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof Failure && error.status === 401) signOut(true)
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A server that was stopped may come back. Other errors do not go away by asking again.
      retry: (_, error) => error instanceof Failure && error.status === 0,
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5_000),
      networkMode: 'always',
    },
  },
})

function Page() {
  const isOut = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isSignedOut,
  )
  if (isOut)
    return (
      <SignIn
        onDone={() => {
          signOut(false)
          void queries.invalidateQueries()
        }}
      />
    )
  return <RouterProvider router={router} />
}

/** The address that gantry printed has a code for signing in and the page to show. */
async function signInByCode(): Promise<void> {
  const [, code, to] = /^#code=([\w-]+)(?:&to=(.*))?$/.exec(location.hash) ?? []
  if (code === undefined) return
  history.replaceState(null, '', `#${to ?? '/'}`)
  await call('signIn', { body: { code } }).catch(() => {
    // An older cookie may still be right. If not, the first question shows how to sign in.
  })
}

await signInByCode()
const root = document.getElementById('root')
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <Page />
      </QueryClientProvider>
    </StrictMode>,
  )
