/** Yields to other work between passes, in Node and in browsers. */

/** Resolves after everything that waits has had its turn: answers of sandboxes, timers, clicks. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') {
      setImmediate(resolve);
      return;
    }
    // Browsers have no setImmediate, and stretch a timer of 0 ms to 4; a message is not held back.
    const { port1, port2 } = new MessageChannel();
    const receiver = port1 as unknown as { onmessage: () => void };
    receiver.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
