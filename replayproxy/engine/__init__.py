"""The native hosts: asyncio servers that put sockets and TLS under the sans-io connections of `replayproxy.wire`.

`native.NativeHost` listens; `connection.ClientConnection` is one client; `delivery` plays an answer in
its time; `service.ReplayService` asks the core, `control.ControlService` the control API's router.
Nothing in this room opens an outgoing socket or resolves a name.
"""
